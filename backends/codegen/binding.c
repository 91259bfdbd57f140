/* binding.c - operators of C, and what they ask of their operands. */
#include "backends/codegen/binding.h"

#include <string.h>

typedef struct operator_row {
    const char *sign;
    binding is, left, right; /* asked of the operand on either side */
} operator_row;

/* Of one level, operators go from left to right: a - b + c is (a - b) + c. */
static const operator_row operators[] = {
    {" ? ", CHOICE, EITHER, EITHER},   {" : ", CHOICE, EITHER, CHOICE},   {" || ", EITHER, COMPARED, COMPARED},
    {" && ", BOTH, BOTH, COMPARED},    {" < ", COMPARED, SUM, SUM},       {" <= ", COMPARED, SUM, SUM},
    {" > ", COMPARED, SUM, SUM},       {" >= ", COMPARED, SUM, SUM},      {" == ", COMPARED, SUM, SUM},
    {" != ", COMPARED, SUM, SUM},      {" + ", SUM, SUM, PRODUCT},        {" - ", SUM, SUM, PRODUCT},
    {" * ", PRODUCT, PRODUCT, PREFIX}, {" / ", PRODUCT, PRODUCT, PREFIX}, {" % ", PRODUCT, PRODUCT, PREFIX},
};
static const operator_row other = {"", CHOICE, ATOM, ATOM}; /* of bits */

static const operator_row *operator_at(const char *s) /* where a blank stands */
{
    for (int i = 0; i < COUNT(operators); i++)
        if (!strncmp(s, operators[i].sign, strlen(operators[i].sign)))
            return &operators[i];
    return &other;
}

static bool is_bracketed(const char *form) /* from its first character to its last */
{
    int depth = 0;
    const char *s = form;
    do
        depth += (*s == '(') - (*s == ')');
    while (*s && depth > 0 && *++s);
    return *form == '(' && *s == ')' && !s[1];
}

binding form_binding(const char *form)
{
    binding least = ATOM;
    int depth = 0;
    if (!is_bracketed(form))
        return ATOM;
    if (strchr("-!~", form[1]))
        least = PREFIX;
    for (const char *s = form + 1; *s && s[1]; s++) {
        depth += (*s == '(') - (*s == ')');
        if (*s != ' ' || depth || s[-1] == ',')
            continue;
        const operator_row *o = operator_at(s);
        least = o->is < least ? o->is : least;
        s += *o->sign ? strlen(o->sign) - 1 : strcspn(s + 1, " ");
    }
    return least;
}

binding form_asks(const char *form, const char *operand)
{
    const char *before = operand, *behind = operand + 2;
    binding left = ANY, right = ANY;
    if (before > form && before[-1] == ' ' && before[-2] != ',') {
        for (before--; before > form && before[-1] != ' ';)
            before--;
        left = before > form ? operator_at(before - 1)->right : ATOM;
    } else if (before > form && before[-1] != '(' && before[-1] != ' ')
        left = ATOM;
    if (*behind == ' ')
        right = operator_at(behind)->left;
    else if (*behind && *behind != ')' && *behind != ',')
        right = ATOM;
    return left > right ? left : right;
}
