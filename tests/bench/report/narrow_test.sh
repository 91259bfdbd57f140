#!/bin/sh
# A report on a telephone, in a browser where one is installed: verdict and medians are in view, nothing scrolled.
. "$SOURCE/tests/cli/expect.sh"
cd "$dir" || exit 1
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
    { echo 'no browser: the page is not opened'; exit 77; }
expect 0 'the report is in page.html' bench bert-tiny --dim seq=16 -s guess -s panels -s rows --threads 1 \
    --launches 1 --min-time 20ms --report page.html
# The policy lets no other script run than the page's own: it goes, so that ours can ask.
sed 's|<meta http-equiv="Content-Security-Policy"[^>]*>||' page.html >asked.html
cat >>asked.html <<'HTML'
<script>
const end = of => Math.max(...[...document.querySelectorAll(of)].map(e => e.getBoundingClientRect().bottom));
const said = [innerWidth, innerHeight, end('.verdict'), end('.times td.big'), document.body.scrollWidth];
parent.postMessage(said.join(' '), '*');
</script>
HTML
# Windows are no narrower than 500 pixels; a frame is.
cat >frame.html <<'HTML'
<script>onmessage = said => document.title = said.data + ' said';</script>
<iframe src=asked.html width=400 height=800 frameborder=0></iframe>
HTML
timeout 120 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$dir/profile" --window-size=600,900 \
    --virtual-time-budget=3000 --dump-dom "file://$dir/frame.html" >dom.html 2>browser.txt ||
    { echo 'the browser does not start here'; exit 77; }
said=$(sed -n 's|.*<title>\(.*\) said</title>.*|\1|p' dom.html)
checked=$((checked + 1))
echo "$said" | awk '{ exit !($1 == 400 && 0 < $3 && $3 < $4 && $4 <= $2 && $5 <= $1) }' ||
    wrong "width, height, where the verdict ends, the medians, the page's own width: $said"
finish
