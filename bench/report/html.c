/* html.c - text is escaped character by character; what is invalid UTF-8, hidden, or turns the direction of reading
 * is shown as its code. */
#include "bench/report/html.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *entity(uint32_t code)
{
    switch (code) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    default: return NULL;
    }
}

/* One character as it is shown; returns the columns it takes. */
static int shown(char out[24], const char *s, int length, uint32_t code)
{
    if (!length)
        return snprintf(out, 24, "\\x%02x", (unsigned)(unsigned char)*s);
    if (!utf8_hidden(code))
        return memcpy(out, s, (size_t)length), out[length] = 0, 1;
    return snprintf(out, 24, code < 0x100 ? "\\x%02x" : "\\u{%x}", (unsigned)code);
}

typedef struct manner {
    size_t columns;
    bool html;
    const char *kept;   /* control characters that stay */
    const char *breaks; /* characters after which a line may break */
} manner;

static void escape(text *t, const char *s, manner m)
{
    size_t n = s ? strlen(s) : 0, used = 0, before_last = t->length;
    for (size_t i = 0; i < n;) {
        uint32_t code = 0;
        char out[24];
        int length = (int)utf8_next(s + i, &code);
        const char *named = m.html && length == 1 ? entity(code) : NULL;
        bool keep = length == 1 && strchr(m.kept, s[i]);
        int wide = 1;
        if (keep || named)
            snprintf(out, sizeof out, "%.*s", named ? 6 : 1, named ? named : s + i);
        else
            wide = shown(out, s + i, length, code);
        if (used + (size_t)wide > m.columns) {
            t->length = before_last;
            text_add(t, "…");
            return;
        }
        /* what has to go if the next character does not fit any more */
        if (used + (size_t)wide < m.columns)
            before_last = t->length + strlen(out);
        text_bytes(t, out, strlen(out));
        if (length == 1 && strchr(m.breaks, s[i]))
            text_add(t, "<wbr>");
        used += (size_t)wide;
        i += length ? (size_t)length : 1;
    }
}

void html_text(text *t, const char *s)
{
    escape(t, s, (manner){SIZE_MAX / 2, true, "", ""});
}

void html_name(text *t, const char *s)
{
    escape(t, s, (manner){120, true, "", "./_:"});
}

void html_clip(text *t, const char *s, int columns)
{
    escape(t, s, (manner){columns < 1 ? 1 : (size_t)columns, true, "", ""});
}

const char *html_skip(const char *s, int characters)
{
    uint32_t code;
    for (; characters > 0 && *s; characters--) {
        const size_t length = utf8_next(s, &code);
        s += length ? length : 1;
    }
    return s;
}

void html_code(text *t, const char *s)
{
    escape(t, s, (manner){SIZE_MAX / 2, true, "\n\t", ""});
}

void html_plain(text *t, const char *s)
{
    escape(t, s, (manner){SIZE_MAX / 2, false, "", ""});
}

/* ---- forms ---- */

/* "p.soft.small x=%d d='M0 0'" -> p class="soft small" x="%d" d="M0 0"; gives where the tag ends. */
static const char *expand_tag(text *t, const char *s)
{
    const size_t name = strcspn(s, ". />");
    text_bytes(t, s, name);
    s += name;
    for (bool first = true; *s == '.'; first = false) {
        const size_t n = strcspn(s + 1, ". />");
        text_add(t, first ? " class=\"%.*s" : " %.*s", (int)n, s + 1);
        s += n + 1;
        if (*s != '.')
            text_add(t, "\"");
    }
    while (*s && *s != '>') {
        const size_t key = strcspn(s, "=>");
        text_bytes(t, s, key + (s[key] == '='));
        s += key;
        if (*s++ != '=')
            return s - 1;
        const bool quoted = *s == '\'' || *s == '"';
        const char end[] = {quoted ? *s : ' ', quoted ? 0 : '>', 0};
        size_t n = strcspn(s += quoted, end);
        n -= !quoted && n && s[n] == '>' && s[n - 1] == '/';
        const bool closed = s[n] || !quoted; /* else what follows goes on with the value, and has the rest of the tag */
        text_add(t, closed ? "\"%.*s\"" : "\"%.*s", (int)n, s);
        s += n + (quoted && closed);
    }
    return s;
}

static void expand(text *t, const char *form, const char *end);

/* "a|#b" -> <td>a</td><td class="num">b</td> */
static void expand_cells(text *t, const char *s, const char *end, const char *tag)
{
    do {
        s += *s == '\n' ? strspn(s, "\n ") : 0;
        const bool number = *s == '#';
        const char *from = s += number;
        for (int depth = 0; s < end && (depth || *s != '|'); s++)
            depth += (*s == '[' || *s == '{') - (*s == ']' || *s == '}');
        text_add(t, number ? "<%s class=\"num\">" : "<%s>", tag);
        expand(t, from, s);
        text_add(t, "</%s>", tag);
    } while (s++ < end);
}

/* <sheet.class>heads</sheet>, <row>cells</row> and <end/>; gives what is behind, NULL for any other tag. */
static const char *expand_table(text *t, const char *s)
{
    const bool row = strncmp(s, "<row>", 5) == 0, sheet = strncmp(s, "<sheet", 6) == 0;
    if (strncmp(s, "<end/>", 6) == 0)
        return text_add(t, "</tbody></table></div>\n"), s + 6;
    if (!row && !sheet)
        return NULL;
    const char *from = strchr(s, '>') + 1, *end = strstr(from, row ? "</row>" : "</sheet>");
    if (sheet)
        text_add(t, s[6] == '.' ? "<div class=\"wide\"><table class=\"%.*s\">" : "<div class=\"wide\"><table>",
                 (int)(from - s - 8), s + 7);
    if (sheet && end > from)
        text_add(t, "<thead>");
    if (end > from) {
        text_add(t, "<tr>");
        expand_cells(t, from, end, row ? "td" : "th");
        text_add(t, "</tr>");
    }
    if (sheet)
        text_add(t, end > from ? "</thead><tbody>\n" : "<tbody>\n");
    return end + (row ? 6 : 8);
}

static void expand(text *t, const char *form, const char *end)
{
    while (form < end) {
        size_t n = strcspn(form, "<\n");
        n = n > (size_t)(end - form) ? (size_t)(end - form) : n;
        text_bytes(t, form, n);
        form += n;
        if (form == end)
            return;
        const char *behind = *form == '<' ? expand_table(t, form) : NULL;
        const size_t indented = *form == '\n' ? strspn(form + 1, " ") : 0;
        if (behind) {
            form = behind;
        } else if (indented) { /* the line goes on */
            text_add(t, indented % 4 ? " " : "");
            form += 1 + indented;
        } else {
            text_bytes(t, form, 1);
            if (*form++ == '<' && *form >= 'a' && *form <= 'z')
                form = expand_tag(t, form);
        }
    }
}

void html_expand(text *t, const char *form)
{
    expand(t, form, form + strlen(form));
}

/* A text by its conversion: "%-s", "%.40s", "%1s", "%s". */
static void put_string(text *t, const char *spec, const char *s, int columns)
{
    const bool name = strchr(spec, '1') == spec + 1;
    const char *dot = strchr(spec, '.');
    if (spec[1] == '-')
        text_add(t, "%s", s);
    else if (name)
        html_name(t, *s ? s : "(no name)");
    else if (dot)
        html_clip(t, s, columns >= 0 ? columns : (int)strtol(dot + 1, NULL, 10));
    else
        html_text(t, s);
}

/* One conversion, of which the argument is fetched; gives what is behind it. */
static const char *convert(text *t, const char *form, va_list *args)
{
    char spec[16];
    const size_t n = 1 + strspn(form + 1, "-+ #0123456789.*lz");
    const bool wide = memchr(form, 'l', n) || memchr(form, 'z', n);
    const int columns = memchr(form, '*', n) ? va_arg(*args, int) : -1;
    snprintf(spec, sizeof spec, "%.*s", (int)n + 1, form);
    switch (form[n]) {
    case '%': text_add(t, "%%"); break;
    case 's': put_string(t, spec, va_arg(*args, const char *), columns); break;
    case 'd':
    case 'u':
        if (wide)
            text_add(t, spec, va_arg(*args, long long));
        else
            text_add(t, spec, va_arg(*args, int));
        break;
    default:
        if (columns >= 0)
            text_add(t, spec, columns, va_arg(*args, double));
        else
            text_add(t, spec, va_arg(*args, double));
    }
    return form + n + 1;
}

static void fill(text *t, const char *form, va_list *args)
{
    while (*form) {
        const size_t n = strcspn(form, "%");
        text_bytes(t, form, n);
        form += n;
        if (*form)
            form = convert(t, form, args);
    }
}

void html_add(text *t, const char *form, ...)
{
    ENDED_BY(text_free) text whole = {0};
    va_list args;
    html_expand(&whole, form);
    va_start(args, form);
    fill(t, text_str(&whole), &args);
    va_end(args);
}

/* ---- data ---- */
static void embed_code(text *t, uint32_t c)
{
    if (c > 0xffff)
        text_add(t, "\\u%04x\\u%04x", (unsigned)(0xd7c0 + (c >> 10)), (unsigned)(0xdc00 | (c & 0x3ff)));
    else
        text_add(t, "\\u%04x", (unsigned)c);
}

void html_embed(text *t, const char *json)
{
    bool in_string = false;
    for (size_t i = 0, n = strlen(json); i < n;) {
        uint32_t code = 0;
        int length = (int)utf8_next(json + i, &code);
        code = length ? code : 0xfffd;
        if (!in_string) {
            if (code > ' ' && code < 0x7f)
                text_bytes(t, json + i, 1);
            in_string = code == '"';
        } else if (code == '\\' && i + 1 < n) {
            text_bytes(t, json + i, 2); /* the parser has checked what follows a backslash */
            length = 2;
        } else {
            if (!length || code == '<' || utf8_hidden(code))
                embed_code(t, code);
            else
                text_bytes(t, json + i, (size_t)length);
            in_string = code != '"';
        }
        i += length ? (size_t)length : 1;
    }
}
