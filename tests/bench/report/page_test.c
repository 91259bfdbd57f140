/* Texts of pages: values as HTML, as Markdown and without marks, and what forms choose. */
/* ctest: fast */
#include "bench/report/page.h"
#include "tests/check.h"

static void check_form(style s, const char *form, const char *want)
{
    static const char json[] = "{\"name\":\"<a|b>\",\"time_ns\":1500,\"none\":null,\"off\":false,\"share\":0.5,"
                               "\"who\":{\"name\":\"x_y\",\"mark\":\"<b>x</b>\"},\"of\":[{\"n\":1},{\"n\":2}],"
                               "\"word\":\"SAME\"}";
    cJSON *o = cJSON_Parse(json);
    const form_place at = {o, NULL};
    text t = {0};
    page_form(&t, NULL, s, &at, form);
    CHECK_TEXT(text_str(&t), want);
    text_free(&t), cJSON_Delete(o);
}

int main(void)
{
    check_form(IN_HTML, "<p.soft>{name}</p>", "<p class=\"soft\">&lt;a|b&gt;</p>");
    check_form(IN_MARKDOWN, "<p.soft>{name}</p>", "<p.soft>`<a\\|b>`</p>");
    check_form(PLAIN, "{name}", "&lt;a|b&gt;");
    check_form(IN_HTML, "{time_ns} {none} {missing}{share:part} {time_ns:%.1f} {name:.2}",
               "1.50\u00a0µs – 50\u00a0% 1500.0 &lt;…");
    check_form(IN_HTML, "{who&} {who/mark!}", "<b>x</b> <b>x</b>");
    check_form(IN_MARKDOWN, "{who&}", "`x_y`");
    check_form(PLAIN, "{who&}", "x_y");
    check_form(PLAIN, "[none?a|b][off?a|b][share>1?a|b][of#=2?a|b]{of#}", "bbba2");
    check_form(PLAIN, "[of*{, and }{n}/{../share:share}][who@={name}][none@no]", "1/50\u00a0% and 2/50\u00a0%=x_y");
    return check_done();
}
