/* explore.c - the page of `tessera explore`: its data as JSON, and one script, the only one that may run. */
#include "bench/report/page.h"
#include "bench/report/report.h"

#include <string.h>

/* By which a browser knows the script: no other text of the page is run, whatever names are in it. */
static void put_hash(text *t, const char *script)
{
    static const char letter[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    hasher *h = hash_open();
    hash_bytes(h, script, strlen(script));
    const digest d = hash_close(h);
    for (int i = 0; i < COUNT(d.b); i += 3) {
        const bool two = i + 1 < COUNT(d.b), three = i + 2 < COUNT(d.b);
        const unsigned v = d.b[i] << 16 | (two ? d.b[i + 1] << 8 : 0) | (three ? d.b[i + 2] : 0);
        text_add(t, "%c%c%c%c", letter[v >> 18], letter[v >> 12 & 63], two ? letter[v >> 6 & 63] : '=',
                 three ? letter[v & 63] : '=');
    }
}

char *report_explore_text(const char *name, const char *data_json)
{
    text t = {0}, policy = {0};
    const char *script = page_file("explore.js");
    text_add(&policy, "; script-src 'sha256-");
    put_hash(&policy, script);
    text_add(&policy, "'");
    page_open_with(&t, "Tessera", name, text_str(&policy));
    text_add(&t, "%s\n", page_file("explore.css"));
    ENDED_BY(js_free) cJSON *o = cJSON_CreateObject();
    js_text(o, "name", name);
    page_put(&t, NULL, IN_HTML, &(form_place){o, NULL}, "explore.html");
    text_add(&t, "\n<script type=\"application/json\" id=\"data\">");
    html_embed(&t, data_json);
    text_add(&t, "</script>\n<script>%s</script>\n</body></html>\n", script);
    text_free(&policy);
    return text_take(&t);
}
