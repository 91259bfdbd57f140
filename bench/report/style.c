/* The look of the report. Light, dark and print differ in the variables only. The pair k0 and k1 (blue, vermilion)
 * keeps apart under the common forms of colour blindness, and every mark has a shape as well; o0 ... o7 fill the ops
 * of stacked bars. */
#include "bench/report/parts.h"

#include <string.h>

/* One rule of the style sheet a line. */
/* clang-format off */
static const char light[] =
    "--bg:#f7f5f0;--card:#fff;--ink:#1c2430;--soft:#5a6472;--line:#dcd8ce;--grid:#ebe8e0;--k0:#0a66b7;--k1:#c4500c;"
    "--k2:#0b7d5b;--k3:#8f4a97;--k4:#8a6d00;--k5:#b0305f;--kp:#7a7f87;--good:#0b7d5b;--warn:#a06000;--bad:#b3261e;"
    "--band:#e4e0d5;--mark:#fff0c2;--o0:#8fbbe0;--o1:#f2b18a;--o2:#9ad3b8;--o3:#e3cf7a;--o4:#c9a9d6;--o5:#e9a0b2;"
    "--o6:#a9d4dc;--o7:#cbc6bb";

static const char dark[] =
    "--bg:#12161c;--card:#1a2029;--ink:#e7eaee;--soft:#9ba6b4;--line:#343d49;--grid:#28303a;--k0:#63b3ff;"
    "--k1:#ff9a5f;--k2:#48cfa4;--k3:#d79be4;--k4:#dfc04a;--k5:#ff87b0;--kp:#9aa2ad;--good:#48cfa4;--warn:#f0b04a;"
    "--bad:#ff7b72;--band:#2b333e;--mark:#4d4218;--o0:#5f93c2;--o1:#cf8b62;--o2:#67ab8d;--o3:#b7a24c;--o4:#9f7fae;"
    "--o5:#c07488;--o6:#77a9b2;--o7:#7d7a72";

static const char *const rules[] = {
    "*{box-sizing:border-box}\n",
    "html{-webkit-text-size-adjust:100%;print-color-adjust:exact;-webkit-print-color-adjust:exact}\n",
    "body{margin:0;background:var(--bg);color:var(--ink);font:1rem/1.55 system-ui,-apple-system,'Segoe UI',"
        "Roboto,'Helvetica Neue',Arial,'Liberation Sans',sans-serif;font-variant-numeric:tabular-nums}\n",
    "main,header,footer{max-width:1060px;margin:0 auto;padding:0 24px}\n",
    "header{padding-top:36px}\n",
    ".brand{font-size:.8rem;letter-spacing:.08em;color:var(--soft);margin:0 0 10px}\n",
    "svg.logo{display:inline-block;width:1.15em;height:1.15em;vertical-align:-.2em;margin-right:.5em}\n",
    "h1{font-size:1.7rem;line-height:1.25;margin:0 0 4px;letter-spacing:-.01em;overflow-wrap:anywhere}\n",
    "h2{font-size:1.3rem;line-height:1.3;margin:0 0 14px;letter-spacing:-.005em}\n",
    "h2 i{font-style:normal;color:var(--soft);font-weight:400;margin-right:.5em}\n",
    "h3{font-size:1.02rem;margin:28px 0 6px}\n",
    "h3:first-child{margin-top:0}\n",
    "p{margin:0 0 10px}\n",
    ".soft{color:var(--soft)}\n",
    ".lead{color:var(--soft);margin:0 0 14px;max-width:76ch}\n",
    "a{color:var(--k0)}\n",
    ".card{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:26px 28px 24px;"
        "margin:0 0 22px;box-shadow:0 1px 2px rgba(0,0,0,.04)}\n",
    "nav{margin:14px 0 20px;font-size:.9rem;display:flex;flex-wrap:wrap;gap:6px 18px}\n",
    "nav a{text-decoration:none}\n",
    "nav a:hover{text-decoration:underline}\n",
    ".verdict{font-size:1.62rem;line-height:1.3;font-weight:600;letter-spacing:-.01em;margin:0 0 8px;"
        "text-wrap:balance}\n",
    ".verdict .name{font-weight:700}\n",
    ".sure{font-size:1.05rem;margin:14px 0 20px;max-width:76ch}\n",
    ".badge{display:inline-block;font-size:.78rem;font-weight:700;letter-spacing:.06em;padding:2px 10px;"
        "border-radius:99px;border:1.5px solid currentColor;margin:0 0 12px}\n",
    ".who{display:inline-block;max-width:100%}\n",
    ".name{overflow-wrap:break-word;unicode-bidi:isolate;font-weight:600}\n",
    "code,pre,.code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'Liberation Mono',monospace;"
        "font-size:.86em;unicode-bidi:isolate}\n",
    "svg.mark{width:.95em;height:.95em;vertical-align:-.1em;margin-right:.28em;flex:none}\n",
    "svg{display:block;width:100%;height:auto;overflow:visible}\n",
    "svg.mark{display:inline-block}\n",
    "figure{margin:6px 0 4px}\n",
    "svg text{font-size:13px;fill:var(--ink)}\n",
    "svg .soft{fill:var(--soft)}\n",
    "svg .small{font-size:11.5px}\n",
    "svg .strong{font-weight:600}\n",
    "svg .end{text-anchor:end}\n",
    "svg .mid{text-anchor:middle}\n",
    "svg .grid{stroke:var(--grid);stroke-width:1;fill:none}\n",
    "svg .rule{stroke:var(--line);stroke-width:1;fill:none}\n",
    "svg .axis{stroke:var(--soft);stroke-width:1;fill:none}\n",
    "svg .band{fill:var(--band)}\n",
    "svg .frame{fill:none;stroke:var(--line)}\n",
    "svg .ontop{fill:#12161c}\n",
    "svg .halo{paint-order:stroke;stroke:var(--card);stroke-width:4px;stroke-linejoin:round}\n",
    ".k0{--k:var(--k0)}\n",
    ".k1{--k:var(--k1)}\n",
    ".k2{--k:var(--k2)}\n",
    ".k3{--k:var(--k3)}\n",
    ".k4{--k:var(--k4)}\n",
    ".k5{--k:var(--k5)}\n",
    ".kp{--k:var(--kp)}\n",
    ".ki{--k:var(--ink)}\n",
    ".kg{--k:var(--good)}\n",
    ".kb{--k:var(--bad)}\n",
    "svg.mark path,.fill{fill:var(--k)}\n",
    ".tint{fill:var(--k);fill-opacity:.16;stroke:var(--k);stroke-width:1.2}\n",
    ".line{stroke:var(--k);fill:none;stroke-width:2;stroke-linejoin:round}\n",
    ".hollow{fill:var(--card);stroke:var(--k);stroke-width:1.8}\n",
    ".dots{fill:var(--k);fill-opacity:.72}\n",
    ".thin{stroke:var(--k);fill:none;stroke-width:1.3}\n",
    ".ink{color:var(--k)}\n",
    "svg .inked{fill:var(--k)}\n",
    "table{border-collapse:collapse;width:100%;font-size:.92rem}\n",
    "th,td{text-align:left;padding:6px 14px 6px 0;border-bottom:1px solid var(--line);vertical-align:top}\n",
    "th{font-weight:600;color:var(--soft);font-size:.82rem;white-space:nowrap}\n",
    "td.num,th.num{text-align:right;white-space:nowrap}\n",
    "tr:last-child td{border-bottom:0}\n",
    "td:last-child,th:last-child{padding-right:0}\n",
    ".wide{overflow-x:auto}\n",
    "td .code,td code{overflow-wrap:anywhere}\n",
    ".times td{padding-top:9px;padding-bottom:9px;vertical-align:middle}\n",
    ".times .more td{border-bottom:0;padding-bottom:2px}\n",
    ".times .remarks td{padding-top:0}\n",
    ".checks td:nth-child(2){white-space:nowrap}\n",
    ".times td:first-child{min-width:190px}\n",
    ".times .bar{width:42%}\n",
    ".track{display:block;height:20px;border-radius:4px;background:var(--k);min-width:2px}\n",
    ".kp .track{opacity:.55}\n",
    ".share{display:block;height:4px;border-radius:2px;background:var(--k0);margin-top:3px;min-width:1px}\n",
    ".big{font-size:1.12rem;font-weight:650}\n",
    ".big small{display:block;font-size:.78rem;font-weight:400;color:var(--soft)}\n",
    "details{margin:6px 0 4px}\n",
    "summary{cursor:pointer;color:var(--soft);font-size:.88rem;padding:4px 0}\n",
    "summary:hover{color:var(--ink)}\n",
    "details[open]>summary{margin-bottom:6px}\n",
    ".reasons{margin:0;padding:0;list-style:none}\n",
    ".reason{padding:9px 0 9px 16px;border-left:3px solid var(--k0);margin:0 0 8px;max-width:88ch}\n",
    ".short{margin:22px 0 4px;padding:16px 20px;border-radius:10px;background:var(--bg);"
        "border:1px solid var(--line)}\n",
    ".short h3{margin:0 0 8px}\n",
    ".short ol{margin:0;padding-left:1.3em}\n",
    ".short li{margin:0 0 5px}\n",
    ".ok{color:var(--good)}\n",
    ".warn{color:var(--warn)}\n",
    ".bad{color:var(--bad)}\n",
    ".sign{font-weight:700;white-space:nowrap}\n",
    ".differs{color:var(--bad);font-weight:600}\n",
    ".facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(290px,1fr));gap:0 28px;font-size:.9rem;"
        "margin:0}\n",
    ".facts div{display:flex;gap:12px;justify-content:space-between;border-bottom:1px solid var(--line);"
        "padding:5px 0}\n",
    ".facts dt{color:var(--soft);white-space:nowrap}\n",
    ".facts dd{margin:0;text-align:right;overflow-wrap:anywhere}\n",
    ".rows{width:auto;margin-top:14px;font-size:.86rem}\n",
    ".rows td,.rows th{padding-right:28px}\n",
    ".nest{display:block;padding:3px 0;overflow-wrap:anywhere}\n",
    "mark{background:var(--mark);color:inherit;border-radius:3px;padding:1px 3px}\n",
    "pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:4px 0;font-size:.84rem}\n",
    ".fit td{padding:3px;border:0}\n",
    ".fit th{padding:4px 6px}\n",
    ".fit .rulename{padding:6px 14px 6px 0;vertical-align:middle}\n",
    ".cell{display:block;border-radius:6px;padding:6px 9px;border:1px solid var(--line);font-size:.86rem;"
        "min-width:104px;background:linear-gradient(90deg,color-mix(in srgb,var(--k) 20%,transparent) var(--w),"
        "transparent var(--w))}\n",
    ".over{border:1.5px solid var(--bad);background:repeating-linear-gradient(45deg,transparent 0 5px,"
        "color-mix(in srgb,var(--bad) 22%,transparent) 5px 8px)}\n",
    ".cell b{display:block}\n",
    ".cell small{color:var(--soft)}\n",
    ".wide+p,figure>p{margin-top:8px}\n",
    ".key{columns:2;column-gap:32px;margin:6px 0 10px;padding:0;list-style:none;font-size:.86rem}\n",
    ".key li{break-inside:avoid;padding:2px 0 2px 2.4em;text-indent:-2.4em}\n",
    ".key b.n{display:inline-block;min-width:1.9em;text-indent:0;text-align:right;margin-right:.5em}\n",
    ".missing{color:var(--soft);font-size:.92rem;margin:0 4px 14px}\n",
    "footer{color:var(--soft);font-size:.85rem;padding-bottom:40px}\n",
    ".legend{display:flex;flex-wrap:wrap;gap:4px 20px;font-size:.88rem;margin:0 0 6px}\n",
    ".chip.gap{background:repeating-linear-gradient(45deg,transparent 0 2px,var(--soft) 2px 4px)}\n",
    ".chip{display:inline-block;width:.8em;height:.8em;border-radius:3px;margin-right:.4em;"
        "vertical-align:-.06em}\n",
    "@media(max-width:640px){"
        "main,header,footer{padding:0 14px}"
        "header{padding-top:20px}"
        ".checks td:nth-child(2){white-space:normal}"
        ".card{padding:18px 16px}"
        ".verdict{font-size:1.3rem}"
        ".key{columns:1}"
        "figure{overflow-x:auto}"
        ".times :is(th,td):is(:nth-child(2),:nth-child(4),:nth-child(5)){display:none}" /* who, median, status */
        ".times td:first-child{min-width:0;overflow-wrap:anywhere}"
        "figure>svg{min-width:640px}"
    "}\n",
    "@media print{"
        ":root{--bg:#fff;--ink:#000;--soft:#444}"
        "html{font-size:11px}"
        "nav,details:not(.full){display:none}"
        ".full::details-content{content-visibility:visible;display:block;height:auto;opacity:1}"
        ".full>summary{list-style:none;color:var(--ink);font-weight:600;break-after:avoid}"
        "main,header,footer{max-width:none;padding:0}"
        ".card{box-shadow:none;border:0;border-top:1px solid var(--line);border-radius:0;padding:18px 0 0}"
        "figure>svg,tr,.reason,.short,.cell{break-inside:avoid}"
        "h2,h3,.lead,.legend,thead{break-after:avoid}"
        ".wide{overflow:visible}"
        "@page{margin:14mm}"
    "}\n",
};
/* clang-format on */

void report_style(text *t)
{
    text_add(t, ":root{color-scheme:light dark;%s}\n@media(prefers-color-scheme:dark){:root{%s}}\n", light, dark);
    text_add(t, "@media print{:root{color-scheme:light;%s}}\n", light);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        text_bytes(t, rules[i], strlen(rules[i]));
}
