'use strict';
// Draws what is in #data. Names in it are foreign: they reach the page through esc() or textContent only.
const D = JSON.parse(document.getElementById('data').textContent), $ = id => document.getElementById(id);
const OP = 0, LABEL = 1, DTYPE = 2, SHAPE = 3, IN = 4, FLOPS = 5, KEY = 6, ATTR = 7, BOX = 8, COPY = 9, HOME = {folded: 10, whole: 11};
const esc = s => String(s).replace(/[&<>"'\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202f\u2060-\u2069\ufeff]/g, c =>
  ({'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;', '\n': '\n', '\t': '\t'})[c] ||
  '\\u{' + c.codePointAt(0).toString(16) + '}');
const clip = (s, n) => s.length <= n ? s : '…' + s.slice(1 - n);
const unit = (v, names, by) => {
  let i = 0;
  while (v >= by && i < names.length - 1) v /= by, i++;
  return (v >= 100 || !i && v % 1 === 0 ? v.toFixed(0) : v.toPrecision(3)) + ' ' + names[i];
};
const bytes = v => unit(v, ['B', 'KiB', 'MiB', 'GiB'], 1024), flop = v => unit(v, ['FLOP', 'kFLOP', 'MFLOP', 'GFLOP', 'TFLOP'], 1000),
  time = v => unit(v, ['ns', 'µs', 'ms', 's'], 1000), count = v => unit(v, ['', 'thousand', 'million', 'billion'], 1000);
const kinds = [/matmul|contract|gemm|strassen|einsum|linear/, /conv|winograd/, /gelu|relu|tanh|sigmoid|erf|silu|exp/, /softmax|attention/,
  /norm/, /gather|embed|scatter|input/, /pool|sum|mean|max|min|reduce/];
const kind = op => { const i = kinds.findIndex(k => k.test(op)); return i < 0 ? 7 : i; };
const kindNames = ['products', 'convolutions', 'activations', 'attention', 'norms', 'lookups', 'reductions', 'other'];

// ---- what may be opened: branches of names, in them boxes of nodes that are one step, in them nodes ----
let root, itemOf, mode = 'folded', plan = 0, chosen = null, items = [], visible = [];
const twinOf = (() => { // the first of equal nodes
  const first = new Map();
  return D.nodes.map((n, i) => {
    const key = n[HOME.folded] + ' ' + n[BOX];
    if (n[COPY] === 0 || n[BOX] < 0) return i;
    return first.get(key) ?? i;
  });
})();
function titleOf(ids) { // recipes by their name: "matmul + gelu"
  const left = new Set(ids), said = [];
  for (const g of [...D.groups].sort((a, b) => b[2].length - a[2].length))
    if (left.has(g[1]) && g[2].every(i => left.has(i) || itemOf[i] === undefined || !ids.includes(i))) {
      const inside = g[2].filter(i => left.has(i));
      if (inside.length > 1) inside.forEach(i => left.delete(i)), said.push([g[1], g[0]]);
    }
  left.forEach(i => said.push([i, D.nodes[i][OP]]));
  const names = said.sort((a, b) => a[0] - b[0]).map(s => s[1]), plain = names.filter(n => !/reshape|transpose|cast|expand/.test(n));
  return [...new Set(plain.length ? plain : names)];
}
const weightOf = ids => {
  for (const i of ids) for (const w of D.nodes[i][IN]) {
    const n = D.nodes[w];
    if (!n[IN].length && n[OP] !== 'input' && n[SHAPE].length > 1 && n[LABEL]) return n[LABEL];
  }
  const named = [...ids].reverse().find(i => D.nodes[i][LABEL]);
  return named === undefined ? '' : D.nodes[named][LABEL];
};
function build() {
  const branches = D[mode], at = HOME[mode], folded = mode === 'folded';
  items = [], itemOf = [];
  const make = (o) => (o.id = items.push(o) - 1, o.children = [], o.ids = [], o.kernels = [], o);
  root = make({kind: 'root', name: D.name, open: true});
  const of = branches.map(b => make({kind: 'branch', name: b[0], times: b[1], open: false}));
  branches.forEach((b, i) => (of[i].parent = b[2] < 0 ? root : of[b[2]]).children.push(of[i]));
  const boxes = new Map();
  D.nodes.forEach((n, i) => {
    if (n[BOX] < 0 || folded && n[COPY] > 0 || !n[IN].length && n[OP] !== 'input') return;
    const key = n[BOX] + ' ' + n[COPY];
    if (!boxes.has(key)) boxes.set(key, []);
    boxes.get(key).push(i);
  });
  for (const ids of boxes.values()) {
    const last = ids[ids.length - 1], home = D.nodes[last][at], parent = home < 0 ? root : of[home], names = titleOf(ids);
    const box = make({kind: 'box', parent, op: names[0], name: names.length > 3 ? names.slice(0, 3).join(' + ') + ' …' : names.join(' + '),
      label: weightOf(ids), open: false});
    box.ids = ids, parent.children.push(box);
    ids.forEach(i => itemOf[i] = box);
    if (ids.length > 1) box.inner = ids;
  }
  // twins of folded layers stand where the first stands
  if (folded) {
    const first = new Map();
    D.nodes.forEach((n, i) => { if (n[BOX] >= 0 && n[COPY] === 0 && itemOf[i]) { const k = n[BOX]; first.set(k, itemOf[i]); } });
    D.nodes.forEach((n, i) => { if (n[BOX] >= 0 && !itemOf[i] && first.has(n[BOX])) itemOf[i] = first.get(n[BOX]); });
  }
  const low = o => o.low = Math.min(Infinity, ...o.ids, ...o.children.map(low));
  low(root);
  items.forEach(o => o.children.sort((a, b) => a.low - b.low));
  const prune = o => { o.children = o.children.filter(c => (prune(c), c.kind !== 'branch' || c.children.length)); };
  prune(root);
  const flops = o => o.flops = o.ids.reduce((s, i) => s + D.nodes[i][FLOPS], 0) + o.children.reduce((s, c) => s + flops(c), 0);
  flops(root);
  items.forEach(o => { if (o.kind !== 'root') o.path = (o.parent.path ? o.parent.path + ' › ' : '') + o.name; });
  linkKernels();
}
const byKey = new Map(D.nodes.map((n, i) => [n[KEY], i]));
const labelled = new Map();
D.nodes.forEach((n, i) => { if (n[LABEL] && !labelled.has(n[LABEL])) labelled.set(n[LABEL], i); });
D.nodes.forEach((n, i) => n[IN].forEach(w => { const o = D.nodes[w]; if (!o[IN].length && o[LABEL]) labelled.set(o[LABEL], i); }));
// A kernel as an object: where it stands in the graph, what it takes, measured or predicted.
const kernels = D.plans.map((p, pi) => p.kernels.map((k, i) => {
  const fact = D.facts[k[2]], node = byKey.get(k[1]) ?? labelled.get(k[0]);
  const ns = k[3] ?? fact.predicted?.time_ns ?? null;
  return {plan: pi, i, label: k[0], by: k[4], fact, declined: D.declined[k[5]], node, ns, measured: k[3] !== null, op: fact.op || 'transfer'};
}));
const total = kernels.map(list => list.reduce((s, k) => s + (k.ns || 0), 0));
const sum = list => list.reduce((s, k) => s + (k.ns || 0), 0);
function linkKernels() {
  items.forEach(o => o.kernels = D.plans.map(() => []));
  kernels.forEach((list, p) => list.forEach(k => {
    k.item = k.node === undefined ? undefined : itemOf[k.node];
    for (let o = k.item; o; o = o.parent) o.kernels[p].push(k);
  }));
}
const canOpen = o => o.children.length || o.inner;
function childrenOf(o) { // the nodes of a box are made when it is opened
  if (o.inner) {
    const inner = o.inner;
    o.inner = null;
    o.children = inner.map(i => {
      const n = {kind: 'node', parent: o, name: D.nodes[i][OP], op: D.nodes[i][OP], label: D.nodes[i][LABEL], ids: [i], children: [],
        open: false, flops: D.nodes[i][FLOPS], low: i, kernels: D.plans.map((_, p) => o.kernels[p].filter(k => k.node === i)),
        path: o.path + ' › ' + D.nodes[i][OP]};
      n.id = items.push(n) - 1;
      return n;
    });
  }
  return o.children;
}
function openSome(most) { // from the outside in, while there is room
  let list = [root], shown = 0;
  while (list.length) {
    const next = list.flatMap(o => childrenOf(o));
    if (shown + next.length > most) break;
    shown += next.length;
    list.forEach(o => o.open = true);
    list = next.filter(o => o.kind === 'branch');
  }
}

// ---- the graph: rows by the longest way, boxes within boxes ----
const W = 212, H = 48, GAP = 18, ROW = 26, PAD = 14, HEAD = 30;
function layout() {
  const rep = new Map(), edges = new Map();
  visible = [];
  const show = o => { visible.push(o); if (o.open) childrenOf(o).forEach(show); };
  show(root);
  const seen = new Set(visible);
  const place = D.nodes.map((n, i) => {
    let o = itemOf[i];
    if (!o) return null;
    const inner = o.open && seen.has(o) ? o.children.find(c => c.ids[0] === i) : null;
    o = inner || o;
    while (o && !seen.has(o)) o = o.parent;
    return o;
  });
  const depth = o => { let d = 0; while (o.parent) o = o.parent, d++; return d; };
  D.nodes.forEach((n, i) => n[IN].forEach(w => {
    let a = place[w], b = place[i];
    if (!a || !b || a === b || mode === 'folded' && D.nodes[w][COPY] !== D.nodes[i][COPY] && itemOf[w].parent === itemOf[i].parent) return;
    const from = a, to = b;
    let da = depth(a), db = depth(b);
    while (da > db) a = a.parent, da--;
    while (db > da) b = b.parent, db--;
    while (a.parent !== b.parent) a = a.parent, b = b.parent;
    if (a === b || a.low > b.low) return;
    const key = a.id + ' ' + b.id;
    if (!edges.has(key)) edges.set(key, {a, b, ends: new Set()});
    edges.get(key).ends.add(from), edges.get(key).ends.add(to);
  }));
  const within = new Map();
  for (const e of edges.values()) {
    if (!within.has(e.a.parent)) within.set(e.a.parent, []);
    within.get(e.a.parent).push(e);
  }
  const size = o => {
    const list = o.open ? o.children : [];
    if (!list.length) return o.w = W, o.h = H;
    list.forEach(c => { size(c), c.rank = 0, c.pull = [], c.x = 0; });
    const own = within.get(o) || [], next = new Map();
    own.forEach(e => { if (!next.has(e.a)) next.set(e.a, []); next.get(e.a).push(e.b); });
    list.forEach(c => (next.get(c) || []).forEach(d => { d.rank = Math.max(d.rank, c.rank + 1), d.pull.push(c); }));
    // what nothing feeds stands just above who reads it
    list.slice().reverse().forEach(c => { const to = next.get(c); if (to && !c.pull.length) c.rank = Math.min(...to.map(d => d.rank)) - 1; });
    const least = Math.min(...list.map(c => c.rank)), rows = [];
    list.forEach(c => (rows[c.rank - least] ||= []).push(c));
    const full = rows.filter(Boolean).flatMap(r => { const parts = []; for (let i = 0; i < r.length; i += 6) parts.push(r.slice(i, i + 6)); return parts; });
    const wide = full.map(r => r.reduce((s, c) => s + c.w + GAP, -GAP)), inner = Math.max(...wide);
    let y = o === root ? 4 : HEAD, sides = 0;
    full.forEach((r, i) => {
      r.forEach(c => c.mid = c.pull.length ? c.pull.reduce((s, d) => s + d.x + d.w / 2, 0) / c.pull.length : inner / 2);
      r.sort((a, b) => a.mid - b.mid || a.low - b.low);
      let x = PAD + (inner - wide[i]) / 2;
      const h = Math.max(...r.map(c => c.h));
      r.forEach(c => { c.x = x, c.y = y + (h - c.h) / 2, c.row = i, x += c.w + GAP; });
      y += h + ROW;
    });
    o.lines = own.map(e => {
      const skips = e.b.row - e.a.row > 1;
      return {...e, side: skips ? ++sides : 0};
    });
    const span = Math.min(sides, 4) * 9;
    o.w = inner + 2 * PAD + span, o.h = y - ROW + (o === root ? 4 : PAD), o.span = span, o.edge = inner + 2 * PAD;
  };
  size(root);
}
function lineOf(o, e, X, Y) {
  const {a, b} = e, x1 = X + a.x + a.w / 2, y1 = Y + a.y + a.h, x2 = X + b.x + b.w / 2, y2 = Y + b.y;
  if (!e.side) { const m = (y1 + y2) / 2; return `M${x1} ${y1}C${x1} ${m} ${x2} ${m} ${x2} ${y2}`; }
  const s = X + o.edge - PAD / 2 + ((e.side - 1) % 4 + 1) * 8, xa = X + a.x + a.w, ya = Y + a.y + a.h - 12, xb = X + b.x + b.w, yb = Y + b.y + 12;
  return `M${xa} ${ya}H${s - 6}Q${s} ${ya} ${s} ${ya + 6}V${yb - 6}Q${s} ${yb} ${s - 6} ${yb}H${xb}`;
}
function draw() {
  layout();
  const put = (o, X, Y) => { o.X = X, o.Y = Y; if (o.open) o.children.forEach(c => put(c, X + c.x, Y + c.y)); };
  put(root, 0, 0);
  scale = Math.max(.7, Math.min(1, ($('graph').clientWidth - 18) / root.w)); // a little too wide is made to fit
  $('graph').innerHTML = `<svg role="img" aria-label="Graph" width="${root.w * scale}" height="${root.h * scale}" viewBox="0 0 ${root.w} ${root.h}"></svg>`;
  paint();
}
// What is in view and around it: of a thousand boxes most are not.
let scale = 1, painted = [0, 0];
function paint() {
  const v = $('graph'), out = [], most = Math.max(1, ...visible.filter(o => !o.open).map(o => sum(o.kernels[plan])));
  const x0 = v.scrollLeft / scale - 500, x1 = x0 + v.clientWidth / scale + 1000, y0 = v.scrollTop / scale - 500, y1 = y0 + v.clientHeight / scale + 1000;
  const near = (x, y, w, h) => x < x1 && x + w > x0 && y < y1 && y + h > y0;
  painted = [v.scrollLeft, v.scrollTop];
  const one = o => {
    const X = o.X, Y = o.Y;
    if (!near(X, Y, o.w, o.h)) return;
    if (o !== root) {
      const ns = sum(o.kernels[plan]), share = total[plan] ? ns / total[plan] : 0, wide = Math.max(16, Math.floor(o.w / 7.4)),
        times = o.times > 1 ? '× ' + o.times : '', name = o.kind === 'branch' ? clip(o.name, wide - 10) : clip(o.name, 25);
      const under = o.kind === 'branch' ? `${o.kernels[plan].length} kernels` : o.label ? clip(o.label, 30) : shapeOf(o.ids[o.ids.length - 1]);
      out.push(`<g class="it p${o.kind === 'branch' ? 'b' : kind(o.op)}${o.open ? ' in' : ''}" data-i="${o.id}" transform="translate(${X} ${Y})">` +
        `<rect width="${o.w}" height="${o.h}" rx="${o.open ? 12 : 8}"/>` +
        (o.kind === 'branch' ? '' : `<rect class="edge" x="0" y="7" width="4" height="${o.h - 14}" rx="2"/>`) +
        `<text class="t" x="13" y="20">${canOpen(o) ? o.open ? '▾ ' : '▸ ' : ''}${esc(name)}</text>` +
        (times ? `<rect class="pill" x="${o.w - 52}" y="7" width="42" height="18" rx="9"/><text class="s" text-anchor="middle" x="${o.w - 31}" y="20">${times}</text>` : '') +
        (share >= .0005 && !times ? `<text class="s" text-anchor="end" x="${o.w - 10}" y="20">${(100 * share).toFixed(share < .01 ? 1 : 0)} %</text>` : '') +
        (o.open ? '' : `<text class="s" x="13" y="36">${esc(under)}</text>` +
          (ns ? `<rect class="heat" x="10" y="${o.h - 6}" width="${Math.max(1, (o.w - 20) * ns / most)}" height="3" rx="1.5"/>` : '')) + '</g>');
    }
    if (o.open) {
      (o.lines || []).forEach(e => near(X, Y + e.a.y, o.w, e.b.y + e.b.h - e.a.y) && out.push(`<path class="flow-line" data-e="${[...e.ends].map(x => x.id).join(' ')}" d="${lineOf(o, e, X, Y)}"/>`));
      o.children.forEach(one);
    }
  };
  one(root);
  v.firstChild.innerHTML = out.join('');
  lightHits(), mark();
}
$('graph').addEventListener('scroll', () => {
  if (Math.hypot($('graph').scrollLeft - painted[0], $('graph').scrollTop - painted[1]) > 300 * scale) paint();
});
const shapeOf = i => D.nodes[i][DTYPE] + ' [' + D.nodes[i][SHAPE].join(', ') + ']';
function mark() {
  for (const g of document.querySelectorAll('.it.on,.flow-line.on,.lanes .on')) g.classList.remove('on');
  document.querySelectorAll('.lanes svg').forEach(s => s.classList.toggle('dim', !!chosen && chosen.kernels[plan].length > 0));
  if (!chosen) return;
  const g = $('graph').querySelector(`[data-i="${chosen.id}"]`);
  if (g) g.classList.add('on');
  const id = String(chosen.id);
  for (const p of $('graph').querySelectorAll('.flow-line')) if (p.dataset.e.split(' ').includes(id)) p.classList.add('on');
  const mine = new Set(chosen.kernels[plan].map(k => String(k.i)));
  for (const r of document.querySelectorAll('.lanes [data-k]')) if (mine.has(r.dataset.k)) r.classList.add('on');
}

// ---- one pass: kernels one behind the other, and what memory holds meanwhile ----
function drawPass() {
  const list = kernels[plan], p = D.plans[plan], all = total[plan], timed = all > 0, X = 1000, MEM = 120;
  const start = [0];
  list.forEach((k, i) => start.push(start[i] + (timed ? k.ns || 0 : 1)));
  const end = start[list.length] || 1, x = i => X * start[i] / end, top = p.arena_bytes || 1;
  const bars = list.map((k, i) => `<rect class="k p${kind(k.op)}" data-k="${i}" x="${x(i).toFixed(2)}" y="0" width="${Math.max(.6, x(i + 1) - x(i)).toFixed(2)}" height="34"><title>${esc(k.op + ' ' + k.label)}${k.ns ? ': ' + time(k.ns) : ''}</title></rect>`);
  const held = p.buffers.map(b => {
    const k = list[b[3]], w = x(Math.min(b[4] + 1, list.length)) - x(b[3]);
    return `<rect class="m p${kind(k ? k.op : '')}" data-k="${b[3]}" x="${x(b[3]).toFixed(2)}" y="${(46 + MEM - MEM * (b[2] + b[1]) / top).toFixed(2)}" width="${Math.max(.8, w).toFixed(2)}" height="${Math.max(.5, MEM * b[1] / top).toFixed(2)}"><title>${esc(b[0] || (k ? k.op : ''))}: ${bytes(b[1])}</title></rect>`;
  });
  const sums = new Map();
  list.forEach(k => sums.set(kind(k.op), (sums.get(kind(k.op)) || 0) + (k.ns || 0)));
  const legend = [...sums].sort((a, b) => b[1] - a[1]).map(([i, ns]) => `<span><i class="chip p${i}"></i>${kindNames[i]}${timed ? ` <b>${(100 * ns / all).toFixed(ns < .01 * all ? 1 : 0)} %</b>` : ''}</span>`).join('');
  const measured = list.some(k => k.measured);
  $('passhead').innerHTML = `One pass <small class="soft">${list.length} kernels${timed ? `, ${time(all)} ${measured ? 'measured' : 'predicted'}` : ''}; below, what memory holds: at most ${bytes(p.arena_bytes)} of values</small>`;
  $('pass').innerHTML = `<svg viewBox="0 0 ${X} ${50 + MEM}" preserveAspectRatio="none" height="${50 + MEM}" role="img" aria-label="Kernels and memory over time">${bars.join('')}${held.join('')}<path class="axis" d="M0 ${46.5 + MEM}H${X}"/></svg><p class="legend">${legend}</p>`;
}

// ---- what is known of what is chosen ----
const roleOf = l => (l.match(/@(core|place|block|lane|vector|unroll)/) || [])[1] || '';
function loopsBox(fact) { // stages within the loops that they share, each loop a box around what it repeats
  const parts = (fact.loops || '').split(' ; '), stages = parts.map(s => { const m = s.match(/^(\w+): ?(.*)$/); return m && parts.length > 1 ? [m[1], m[2]] : ['', s]; });
  const level = (stage, loop) => (fact.levels || []).find(l => (l.stage || '') === stage && l.loop === loop.replace(/[\[+].*$/, '')) || (fact.levels || []).find(l => l.loop === loop.replace(/[\[+].*$/, ''));
  const words = s => s.match(/(?:\[[^\]]*\]|[^\s\[])+/g) || [];
  const nest = (stage, list, inner) => list.reduceRight((body, loop) => {
    const l = level(stage, loop), r = roleOf(loop), share = l && l.share ? `<span class="share-of${l.share > 1 ? ' full' : ''}" title="${(100 * l.share).toFixed(1)} % of ${esc(l.level)}"><i style="width:${Math.min(100, 100 * l.share)}%"></i></span>` : '';
    return `<div class="loops${r ? ' r-' + (r === 'block' || r === 'place' ? 'core' : r) : ''}"><p><b>${esc(loop)}</b>` + (l ? `<span>${l.trips} trips of ${l.step}${l.tail ? ', the last of ' + l.tail : ''}</span><span>${bytes(l.working_set)} in ${esc(l.level)} ${share}</span>` : '') + `</p>${body}</div>`;
  }, inner);
  const body = name => `<div class="loops"><p><b>${esc(name || fact.op)}</b></p></div>`;
  if (stages.length === 1) return nest('', words(stages[0][1]), body(fact.op));
  return nest('', words(stages[0][1]), stages.slice(1).map(([name, s]) => `<div class="loops"><p><b>${esc(name)}</b></p>${nest(name, words(s), '')}</div>`).join(''));
}
function table(heads, rows) {
  return `<div class="wide"><table><thead><tr>${heads.map(h => `<th>${h}</th>`).join('')}</tr></thead><tbody>${rows.map(r => `<tr>${r.map(c => `<td>${c}</td>`).join('')}</tr>`).join('')}</tbody></table></div>`;
}
function familyHtml(list) { // kernels that are walked alike
  const k = list[0], f = k.fact, more = list.length > 1 ? ` <small class="soft">× ${list.length}</small>` : '', ns = sum(list);
  const rule = f.guessed ? `rule <b>${esc(f.rule)}</b> named loops that this kernel cannot have; the guess decided` : f.rule === 'guess' ? (D.plans[plan].schema === 'guess' ? 'the guess' : 'the guess: no rule of the schema fits this kernel') : `rule <b>${esc(f.rule || '')}</b> of the schema`;
  const dims = Object.entries(f.dims || {}).map(([a, n]) => esc(a) + ' = ' + n).join(', ');
  let s = `<h3><i class="chip p${kind(k.op)}"></i>${esc(k.op)}${more}</h3><dl class="kv"><dt>decided by</dt><dd>${rule}</dd>` +
    (k.by ? `<dt>way</dt><dd>${esc(k.by)}: a part of the operation above</dd>` : '') +
    (ns ? `<dt>time</dt><dd>${time(ns)} ${k.measured ? 'measured' : 'predicted'}, ${(100 * ns / total[plan]).toFixed(1)} % of the pass${f.predicted && k.measured ? `; ${time(f.predicted.time_ns * list.length)} predicted` : ''}${f.predicted ? ', bound by ' + esc(f.predicted.bound) : ''}</dd>` : '') +
    (dims ? `<dt>axes</dt><dd>${dims}</dd>` : '') + (f.flops ? `<dt>work</dt><dd>${flop(f.flops)}, ${bytes(f.bytes)} each</dd>` : '') +
    (f.registers ? `<dt>registers</dt><dd>${f.registers.used} of ${f.registers.of}</dd>` : '') + '</dl>';
  if (f.loops) s += loopsBox(f);
  if (f.operands?.length) s += `<details><summary>Operands and layouts</summary>${table(['operand', 'type', 'layout'], f.operands.map(o => [o.operand, o.type, o.layout].map(esc)))}</details>`;
  if (k.declined.length) s += `<details><summary>Declined: ${k.declined.length} other way${k.declined.length > 1 ? 's' : ''}</summary><ul>${k.declined.map(d => `<li>${esc(d)}</li>`).join('')}</ul></details>`;
  if (f.notes?.length) s += `<ul class="warn">${f.notes.map(d => `<li>${esc(d)}</li>`).join('')}</ul>`;
  if (f.text !== undefined) s += `<details class="code"><summary>The text that is compiled</summary><pre><code>${esc(D.texts[f.text])}</code></pre></details>`;
  return s;
}
function detail() {
  const o = chosen, box = $('detail');
  if (!o) {
    const top = [...kernels[plan]].sort((a, b) => (b.ns || 0) - (a.ns || 0)).slice(0, 8);
    box.innerHTML = `<h2>Choose a box</h2><p class="soft">Boxes are layers and steps of the model; bars under them show where the time goes. What is chosen shows its kernel here: its loops, the rule that decided them and the text that is compiled.</p>` +
      (total[plan] ? `<h3>The longest kernels</h3>${table(['kernel', 'of', 'time'], top.map(k => [`<a href="#" data-go="${k.i}">${esc(k.op)}</a>`, esc(clip(k.label || '', 40)), time(k.ns || 0)]))}` : '');
    return;
  }
  const list = o.kernels[plan], families = new Map(), n = o.ids.length ? D.nodes[o.ids[o.ids.length - 1]] : null;
  list.forEach(k => { if (!families.has(k.fact)) families.set(k.fact, []); families.get(k.fact).push(k); });
  let s = `<p class="crumb">${esc(o.parent.path || '')}</p><h2>${esc(o.name)}${o.times > 1 ? ` <small class="soft">× ${o.times}</small>` : ''}</h2><dl class="kv">` +
    (o.label ? `<dt>name</dt><dd>${esc(o.label)}</dd>` : '') + (n ? `<dt>gives</dt><dd>${esc(shapeOf(o.ids[o.ids.length - 1]))}</dd>` : '') +
    (o.flops ? `<dt>work</dt><dd>${flop(o.flops)}${o.times > 1 ? ' each' : ''}</dd>` : '') + (n && n[ATTR] ? `<dt>attributes</dt><dd>${esc(n[ATTR])}</dd>` : '') + '</dl>';
  if (D.plans.length > 1 && list.length) s += table(['schema', 'kernels', 'time', 'of the pass'], D.plans.map((p, i) => [`<i class="chip k${i % 6}"></i>${esc(p.name)}`, o.kernels[i].length, sum(o.kernels[i]) ? time(sum(o.kernels[i])) : '–', total[i] ? (100 * sum(o.kernels[i]) / total[i]).toFixed(1) + ' %' : '–']));
  const sorted = [...families.values()].sort((a, b) => sum(b) - sum(a));
  s += sorted.slice(0, 6).map(familyHtml).join('');
  if (sorted.length > 6) s += `<p class="soft">${sorted.length - 6} further kinds of kernels: open the box to see them.</p>`;
  if (!list.length) s += `<p class="soft">No kernel of its own${o.kind === 'node' ? ': it is computed within a kernel of the box around it' : ': it is computed within the kernels of those who read it'}.</p>`;
  if (o.kind === 'node' && !list.length && o.parent.kernels[plan].length) s += [...new Map(o.parent.kernels[plan].map(k => [k.fact, [k]])).values()].slice(0, 3).map(familyHtml).join('');
  box.innerHTML = s;
  box.scrollTop = 0;
}

// ---- the race ----
function drawRace() {
  const r = D.race;
  if (!r) return;
  const most = Math.max(...r.rows.map(c => c.high || c.median || 0));
  const word = {FASTER: 'is faster than', SLOWER: 'is slower than', SAME: 'takes as long as', UNDECIDED: 'against'};
  $('race').hidden = false;
  $('race').innerHTML = `<h2>The race <small class="soft">time of one pass; the machine was ${esc(r.state || 'not watched')}</small></h2><div class="racing">` +
    r.rows.map((c, i) => `<span><i class="chip k${c.peer ? 'p' : i % 6}"></i>${esc(c.name)}</span><span class="track-of k${c.peer ? 'p' : i % 6}">${c.median ? `<i class="track" style="width:${100 * c.median / most}%"></i>` : esc(c.status)}</span><b>${c.median ? time(c.median) : '–'}</b>`).join('') + '</div>' +
    r.comparisons.map(c => `<p class="said"><b>${esc(c[0])}</b> ${word[c[2]] || 'against'} <b>${esc(c[1])}</b>${c[2] === 'UNDECIDED' ? ': not decided' : ''}${c[3] ? `: ${c[3].toFixed(2)} times, 99 % interval ${c[4].toFixed(2)} to ${c[5].toFixed(2)}` : ''}</p>`).join('');
}

// ---- hands ----
function reveal(o) { for (let p = o.parent; p; p = p.parent) childrenOf(p), p.open = true; }
function choose(o, scroll) {
  chosen = o;
  if (o && !visible.includes(o)) reveal(o), draw(); else mark();
  detail();
  const v = $('graph'), h = o && o.open ? H : o && o.h;
  if (!o || !scroll) return;
  if (o.Y * scale < v.scrollTop || (o.Y + h) * scale > v.scrollTop + v.clientHeight) v.scrollTop = o.Y * scale - (v.clientHeight - h * scale) / 3;
  if (o.X * scale < v.scrollLeft || (o.X + o.w) * scale > v.scrollLeft + v.clientWidth) v.scrollLeft = o.X * scale - (v.clientWidth - o.w * scale) / 2;
}
function toggle(o, open) {
  if (!canOpen(o) || o.open === open) return;
  childrenOf(o), o.open = open, draw();
}
function all(open) {
  const go = o => { if (o.kind === 'branch' || o === root) o.open = open || o === root, o.children.forEach(go); else o.open = false; };
  go(root);
  if (!open && chosen && !chosen.parent) chosen = null;
  if (!open) while (chosen && chosen.parent && !chosen.parent.open) chosen = chosen.parent;
  draw(), detail();
}
function tabs() {
  $('plans').innerHTML = D.plans.map((p, i) => `<button type="button" role="tab" class="k${i % 6}" data-p="${i}" aria-selected="${i === plan}">${esc(p.name)}</button>`).join('');
  $('plans').hidden = D.plans.length < 2;
}
function show(p) { if (p < D.plans.length) plan = p, tabs(), drawPass(), paint(), detail(); }
function setMode(m) {
  const at = chosen ? chosen.ids[0] : undefined;
  mode = m, chosen = null, build(), openSome(40);
  $('repeat').setAttribute('aria-pressed', m === 'whole');
  draw(), drawPass(), choose(at === undefined ? null : itemOf[at] || null, true);
}
let hits = [], hit = 0;
function lightHits() { hits.forEach(o => $('graph').querySelector(`[data-i="${o.id}"]`)?.classList.add('hit')); }
function find(words) {
  const w = words.trim().toLowerCase();
  hits = w ? items.filter(o => o.kind !== 'root' && (o.name + ' ' + (o.label || '')).toLowerCase().includes(w)) : [];
  hit = 0;
  document.querySelectorAll('.it.hit').forEach(g => g.classList.remove('hit'));
  lightHits();
}
$('find').addEventListener('input', () => find($('find').value));
$('find').addEventListener('keydown', e => {
  if (e.key === 'Enter' && hits.length) choose(hits[hit++ % hits.length], true);
  if (e.key === 'Escape') $('find').value = '', find(''), $('graph').focus();
  e.stopPropagation();
});
$('graph').addEventListener('click', e => {
  const g = e.target.closest('.it');
  if (!g) return choose(null);
  const o = items[g.dataset.i], again = chosen === o;
  choose(o);
  if (canOpen(o) && (o.kind === 'branch' || again)) toggle(o, !o.open);
});
$('pass').addEventListener('click', e => { const k = e.target.dataset && e.target.dataset.k; if (k !== undefined && kernels[plan][k].item) choose(kernels[plan][k].item, true); });
$('detail').addEventListener('click', e => { const k = e.target.dataset.go; if (k !== undefined) e.preventDefault(), kernels[plan][k].item && choose(kernels[plan][k].item, true); });
$('plans').addEventListener('click', e => { if (e.target.dataset.p) show(+e.target.dataset.p); });
$('open').onclick = () => all(true), $('close').onclick = () => all(false), $('repeat').onclick = () => setMode(mode === 'folded' ? 'whole' : 'folded');
document.addEventListener('keydown', e => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest && e.target.closest('input')) return;
  const list = visible.filter(o => o !== root), at = list.indexOf(chosen);
  const step = d => choose(list[Math.max(0, Math.min(list.length - 1, at < 0 ? 0 : at + d))], true);
  const keys = {
    ArrowDown: () => step(1), ArrowUp: () => step(-1), j: () => step(1), k: () => step(-1),
    ArrowRight: () => chosen && (canOpen(chosen) && !chosen.open ? toggle(chosen, true) : step(1)),
    ArrowLeft: () => chosen && (chosen.open ? toggle(chosen, false) : chosen.parent !== root && choose(chosen.parent, true)),
    Enter: () => chosen && toggle(chosen, !chosen.open), Escape: () => choose(null),
    '/': () => $('find').focus(), o: () => all(true), f: () => all(false), r: () => setMode(mode === 'folded' ? 'whole' : 'folded')
  };
  if (e.key === 'Enter' && e.target.closest('button,summary,a')) return;
  if (/^[1-8]$/.test(e.key)) show(e.key - 1); else if (keys[e.key]) keys[e.key](); else return;
  e.preventDefault();
});
$('facts').textContent = [Object.values(D.dims).map(d => d.join(' = ')).join(', '), count(D.parameters) + ' parameters (' + bytes(D.weight_bytes) + ')', flop(D.flops) + ' a pass',
  D.plans[0] ? `${D.plans[0].target} ${D.plans[0].isa || ''}, ${D.plans[0].threads} thread${D.plans[0].threads > 1 ? 's' : ''}` : ''].filter(Boolean).join(' · ');
build(), openSome(24), tabs(), drawRace(), drawPass(), draw(), detail();
