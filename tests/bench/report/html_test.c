/* What names from files become on a page: escaped, visible, cut between characters. */
/* ctest: fast */
#include "bench/report/html.h"
#include "tests/check.h"

static void check_written(void (*write)(text *, const char *), const char *given, const char *want)
{
    text t = {0};
    write(&t, given);
    CHECK_TEXT(text_str(&t), want);
    text_free(&t);
}

static void clip5(text *t, const char *s)
{
    html_clip(t, s, 5);
}

static void test_escapes(void)
{
    check_written(html_text, "<a b='c' d=\"e\">&amp;", "&lt;a b=&#39;c&#39; d=&quot;e&quot;&gt;&amp;amp;");
    check_written(html_text, "\x7f\xc2\x85\xe2\x80\x8b\xef\xbb\xbf\xf3\xa0\x80\xa1",
                  "\\x7f\\x85\\u{200b}\\u{feff}\\u{e0021}");
    check_written(html_text, "\xe0\x80\xaf\xf8\xe2\x82 €é😀", "\\xe0\\x80\\xaf\\xf8\\xe2\\x82 €é😀");
    check_written(html_text, NULL, "");
    check_written(html_name, "a.b/<", "a.<wbr>b/<wbr>&lt;");
    check_written(html_code, "a\n\tb\r", "a\n\tb\\x0d");
    check_written(html_plain, "<a&\x1b", "<a&\\x1b");
    check_written(clip5, "abcde", "abcde");
    check_written(clip5, "abcdef", "abcd…");
    check_written(clip5,
                  "ab\x1b"
                  "cd",
                  "ab…");
    check_written(clip5, "<<<<<<", "&lt;&lt;&lt;&lt;…");
    check_written(html_embed, "{ \"a\" : \"</x \\\" <\xe2\x80\xae\xff\n\" , \"b\":[1.50, -2e3]\n}",
                  "{\"a\":\"\\u003c/x \\\" \\u003c\\u202e\\ufffd\\u000a\",\"b\":[1.50,-2e3]}");
    check_written(html_embed, "\"\xf3\xa0\x80\xa1\"", "\"\\udb40\\udc21\"");
}

static void test_forms(void)
{
    text t = {0};
    html_add(&t, "<p.soft.small title='%s' x=%d/>%.2f %% of %lld, %zu: %-s %.3s %.*s %1s", "\"<b>\"", -3, 1.5, 7LL,
             (size_t)9, "<i>", "abcd", 2, "<>&", "a/");
    CHECK_TEXT(text_str(&t),
               "<p class=\"soft small\" title=\"&quot;&lt;b&gt;&quot;\" x=\"-3\"/>1.50 % of 7, 9: <i> ab… "
               "&lt;… a/<wbr>");
    t.length = 0;
    html_add(&t, "<br><path.fill.%s d='M%d 0", "k1", 2); /* what follows goes on with the value */
    text_add(&t, "h3");
    html_add(&t, "\"/></g> 1 < 2 %1s", "");
    CHECK_TEXT(text_str(&t), "<br><path class=\"fill k1\" d=\"M2 0h3\"/></g> 1 < 2 (no name)");
    t.length = 0;
    html_add(&t, "<row>%s|#%d|<b>%-s</b>|</row>\n", "a|b", 4, "c");
    CHECK_TEXT(text_str(&t), "<tr><td>a|b</td><td class=\"num\">4</td><td><b>c</b></td><td></td></tr>\n");
    t.length = 0;
    html_expand(&t, "<sheet.rows>a|#[b?c|d]</sheet>\n<row>{e!|f}|\n    #g</row>\n    <end/>h\n  <i.j>");
    CHECK_TEXT(text_str(&t),
               "<div class=\"wide\"><table class=\"rows\"><thead><tr><th>a</th><th class=\"num\">[b?c|d]</th></tr>"
               "</thead><tbody>\n\n<tr><td>{e!|f}</td><td class=\"num\">g</td></tr></tbody></table></div>\nh "
               "<i class=\"j\">");
    text_free(&t);
}

int main(void)
{
    test_forms();
    test_escapes();
    return check_done();
}
