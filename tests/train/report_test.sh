#!/bin/sh
# What a run leaves to be looked at: metrics, what was misjudged, the breakdown of a step, and the page of them.
# ctest: drivers Og
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
"${PYTHON:-python3}" "$SOURCE/tests/train/fixture.py" . || exit 77
holds() { "${PYTHON:-python3}" -c "import json, re
rows = lambda name: [json.loads(line) for line in open(name)]
$1" || wrong "$2"; checked=$((checked + 1)); }

# one example whose label is wrong and whose text is hostile: it is the surest mistake
{ printf 'superb <script>alert(1)</script> & "film" \033[31m \342\200\256 \357\277\275\t0\n'; head -20 dev.tsv; } >odd.tsv
set -- model.json --tokenizer vocab.txt --data train.tsv --labels 2 --length 12 --batch 8 --lr 0.1 --steps 80
expect 0 '21 examples' train "$@" --eval odd.tsv --eval-every 20 -o run
holds "r = [x for x in rows('run/metrics.jsonl') if 'loss' in x]
assert len(r) == 80
for x in r:
    assert {'step', 'epoch', 'loss', 'grad_norm', 'lr', 'ms', 'tokens_per_s', 'memory_bytes'} == set(x), x
    assert x['epoch'] == x['step'] // 40 and x['ms'] > 0 and x['memory_bytes'] > 1e6
e = [x for x in rows('run/metrics.jsonl') if 'eval_loss' in x]
assert [x['step'] for x in e] == [19, 39, 59, 79] and all(x['n'] == 21 for x in e)" "metrics.jsonl lacks something"
holds "m = json.load(open('run/misjudged.json'))
assert m['n'] == 21 and m['step'] == 80 and m['wrong'] == len(m['worst']) >= 1, m
assert sum(map(sum, m['confusion'])) == 21 and sum(m['confusion'][i][1 - i] for i in (0, 1)) == m['wrong']
first = m['worst'][0]
assert first['line'] == 1 and first['label'] == 0 and first['predicted'] == 1 and '<script>alert' in first['text'], first
assert all(a['confidence'] >= b['confidence'] > 0.5 for a, b in zip(m['worst'], m['worst'][1:] or m['worst']))
e = [x for x in rows('run/metrics.jsonl') if 'eval_loss' in x][-1]
assert abs(e['eval_accuracy'] - (1 - m['wrong'] / 21)) < 1e-9" "misjudged.json is another set"
holds "s = json.load(open('run/step.json'))
assert s['format'] == 'step/1'
k, n = s['candidates'][0]['kernels'], s['candidates'][0]['samples'][0]
assert len(n) == 6 and all(x['median_ns'] > 0 and x['bytes'] > 0 and x['op'] and x['rule'] and x['calls'] == 1 for x in k)
assert any(x['flops'] > 0 for x in k)
whole = sorted(x['ns'] for x in n)
assert sum(x['median_ns'] for x in k) < 1.5 * whole[-1], (k, n)" "step.json is not the step"
expect 0 '' report run/step.json --csv
holds "p = open('run/report.html', 'rb').read().decode()
assert '<script' not in p and '&lt;script&gt;alert(1)&lt;/script&gt;' in p and chr(27) not in p and chr(0x202e) not in p
assert '<dt>steps</dt><dd>80</dd>' in p and '<dt>warmup</dt><dd>8</dd>' in p
for word in ('epochs', 'weight-decay', 'save-every', 'loss-scale', 'total-steps'): # not asked, or without meaning here
    assert '<dt>%s</dt>' % word not in p, word
for word in ('Loss by step', 'Accuracy on held-out', 'Norm of the gradients', 'Learning rate', 'Time of a step', 'Tokens per second',
             'Memory of the process', 'Most confident mistakes', 'Confusion matrix', 'All kernels', 'Buffers over kernels'):
    assert word in p, word
curves = [f for f in re.findall(r'<figure>.*?</figure>', p, re.S) if 'step →' in f]
assert len(curves) >= 7, len(curves)
for f in curves: # what both axes count, and where on them one is
    assert ' ↑' in f and all(len(re.findall(r'class=.grid. d=.M[0-9.]+ [0-9.]+' + to, f)) >= 3 for to in 'HV'), f[:300]
assert not re.search(r'(?:src|href)=.[^#]|@import|url\([^#]', p), 'not self-contained'
assert not re.search(r'[ >]-?(nan|inf)[ <]', p), 'a number that is none'
assert len(p) < 1500000" "the page lacks something, or shows what is foreign as it is"
cp run/report.html first.html
expect 0 'run/report.html' report run
cmp -s first.html run/report.html || wrong "the page of a run is another one when it is made again"
expect 2 'a run is shown as a page only' report run --csv

# no held-out examples, numbers instead of classes, arrays instead of text, a batch in parts
expect 0 '' train "$@" --accumulate 2 -o bare
holds "p = open('bare/report.html').read()
assert 'there are no held-out examples' in p and 'Accuracy on held-out' not in p
s = json.load(open('bare/step.json'))
assert all(k['calls'] == 2 for k in s['candidates'][0]['kernels'])" "a run without --eval has a page of another kind"
expect 0 '40 examples' train model.json --tokenizer vocab.txt --data train.tsv --task regress --eval dev.tsv --length 12 --batch 8 \
    --lr 0.1 --steps 9 -o real
holds "m = json.load(open('real/misjudged.json'))
far = [abs(x['predicted'] - x['label']) for x in m['worst']]
assert len(far) == m['examples'] == 40 and far == sorted(far, reverse=True)
assert 'Largest errors' in open('real/report.html').read()" "numbers are not judged by their distance"
# every back end that can time its kernels is asked to, and no other
for target in interp $("$TESSERA" doctor --json -q | "${PYTHON:-python3}" -c "import json, sys
print(*[t['name'] for t in json.load(sys.stdin)['targets'] if t['usable'] and t['name'] == 'opencl'])"); do
    expect 0 '' train "$@" --steps 3 --target $target -o on-$target
done
[ -e on-interp/step.json ] && wrong "kernels of a target that does not time them have times"
[ ! -d on-opencl ] || holds "s = json.load(open('on-opencl/step.json'))
assert all(k['median_ns'] > 0 for k in s['candidates'][0]['kernels']), s" "a target that times kernels was not asked"
# where every evaluation is right, the axis of accuracy ends at 100 %
cp -r run right
sed -i 's/"eval_accuracy":[^,}]*/"eval_accuracy":1/' right/metrics.jsonl
expect 0 '' report right
holds "p = open('right/report.html').read()
shares = [float(x) for x in re.findall(r'>([0-9.]+) %</text>', p)]
assert shares and max(shares) <= 100, shares" "an accuracy is beyond 100 %"
finish
