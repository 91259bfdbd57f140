// Run in the page of `tessera explore`, by explore_test.sh: what each action takes, and what is there behind it.
const said = {errors: []};
onerror = message => said.errors.push(String(message));
const least = (name, act) => { // of three, and of more where other programs run beside this one
  let best = Infinity;
  for (let i = 0; i < 3 || (best > 100 && i < 30); i++) {
    const from = performance.now();
    act(i), document.body.offsetHeight;
    best = Math.min(best, performance.now() - from);
  }
  said[name] = best;
};
const key = k => document.dispatchEvent(new KeyboardEvent('keydown', {key: k, bubbles: true}));
const shown = () => visible.length - 1; // some of them are out of view, and drawn when they come
addEventListener('load', () => {
  said.first = shown();
  said.kernels = kernels.map(list => list.length), said.lost = kernels.map(list => list.filter(k => !k.item).length);
  least('open', i => key(i % 2 ? 'f' : 'o'));
  key('f'), said.folded = shown();
  least('repeats', () => key('r')), said.mode = mode;
  key('o'), said.whole = shown();
  const boxes = items.filter(o => o.kind === 'box'), heavy = boxes.reduce((a, b) => sum(a.kernels[0]) >= sum(b.kernels[0]) ? a : b);
  least('choose', i => choose(i ? heavy : boxes[0], true));
  said.text = document.querySelectorAll('#detail pre').length, said.loops = document.querySelectorAll('#detail .loops').length;
  said.rule = document.querySelector('#detail .kv').parentNode.textContent.includes('decided by');
  least('step', () => key('ArrowDown')), least('find', () => find('a'));
  boxes.filter(canOpen).forEach(o => (childrenOf(o), o.open = true)), draw(), said.all = shown();
  least('toggle', () => toggle(heavy, !heavy.open)), least('schema', i => key(i % 2 ? '1' : '2'));
  said.foreign = typeof foreign !== 'undefined' || document.querySelectorAll('main img, header img').length > 0;
  const out = document.createElement('pre');
  out.id = 'said', out.textContent = JSON.stringify(said), document.body.append(out);
});
