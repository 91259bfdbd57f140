/* binding.h - how tightly what a form writes binds, so that generated text has brackets only where they say something.
 *
 * A form that is an operator stands between brackets, "($0 + $1)", and operators in it between blanks. What is not told
 * apart here keeps its brackets. So do operands that C would read rightly and compilers warn of: && beside ||,
 * comparisons of comparisons. Forms are only read, and nothing is kept. */
#pragma once
#include "graph/base/base.h"

/* Loosest first. What binds as tightly as is asked, or more, needs no brackets. */
typedef enum binding { ANY, CHOICE, EITHER, BOTH, COMPARED, SUM, PRODUCT, PREFIX, ATOM } binding;

binding form_binding(const char *form);                   /* of what it makes, without its outer brackets */
binding form_asks(const char *form, const char *operand); /* of what stands for an operand: a `$0` in form */
