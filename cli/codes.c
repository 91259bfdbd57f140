/* codes.c - the pages of `tessera help CODE`, one row a code. */
#include "cli/codes.h"

#include <stddef.h>
#include <strings.h>

const code_page message_codes[] = {
    /* models */
    {"M001", "The file is in no format that is known here, or is no ONNX model.",
     "ONNX files, graph/1 files in JSON, and folders with a graph.json are read. A file of a few hundred bytes that "
     "begins with \"version https://git-lfs\" stands for one that was not fetched."},
    {"M002", "The file ends in the middle of something.",
     "It is truncated: compare its size or its SHA-256 with the original, and fetch it again."},
    {"M003", "The file's bytes break the rules of the wire format of ONNX.",
     "It is truncated or damaged: compare its size or its SHA-256 with the original."},
    {"M004", "Graphs within graphs, or functions that call functions, are nested too deep.",
     "No exporter nests that deep: the file is malicious, or a faulty program wrote it."},
    {"M005", "More inputs or outputs than one node or model may have.", "Cut the model into parts, or join values."},
    {"M010", "The versions that the file states are missing, contradict each other, or are too new.",
     "Export it again for an older opset; tessera ops --onnx lists what is served."},
    {"M011", "The model has no graph, or a graph without outputs.", "Export it again with its results as outputs."},
    {"M012", "A node reads a value that no node produces, or the graph has a cycle.",
     "The message names the node and the value: a node was removed or renamed, or the file is cut."},
    {"M013", "Two nodes produce a value of the same name.",
     "Rename one of them; names of values are unique in a graph."},
    {"M014", "A name is empty, too long, or holds control characters or bytes that are no UTF-8.",
     "Rename it: 1 to 512 bytes of UTF-8."},
    {"M015", "A node has no operator type.", "The file is damaged, or a tool left the node half made."},
    {"M016", "The model uses operators, versions or element types that are not supported.",
     "All of them are listed at once. tessera ops --onnx shows what is served; another opset often avoids them."},
    {"M017", "An attribute is given twice, has the wrong kind, or lacks its value.",
     "The message names it; tessera ops lists the attributes of an operation."},
    {"M019", "An element type is missing, unknown to ONNX, or different from what the output's node gives.",
     "State the type of every input, and of an output the one that comes out."},
    {"M020", "A shape has too many dimensions, or one that is negative.", "The message names the value and its shape."},
    {"M021", "A tensor has more elements than any may have.", "Its shape is damaged, or meant to exhaust memory."},
    {"M022", "A tensor's data do not fit its shape and element type.",
     "The file is cut or damaged, or its data are stated in two places."},
    {"M024", "An operator cannot be applied to the operands that it has here.",
     "The message says why: mostly shapes or types. tessera show MODEL --dim ... shows the values before it."},
    {"M025", "The model would need more than is allowed while it is read: steps, constants, elements.",
     "If the model is to be trusted, allow more: --limit steps=N, folded=N, elements=N, description=N."},
    {"M027", "Numbers that the file spells out one by one would need too much memory.",
     "Save it with raw data or external data, which are mapped instead of read."},
    {"M030", "The file uses a part of ONNX that is not supported, as sparse tensors.",
     "Export it without; the message names the part."},
    /* external data */
    {"X001", "External data lie outside the model's folder.",
     "Files are only opened where the model is. Put them beside it, or follow its link to the folder they are in."},
    {"X002", "External data cannot be read, or have no location.", "Put the file that is named beside the model."},
    {"X003", "External data are shorter than the model says, or at no place that is a number.",
     "The file is cut or of another version of the model."},
    {"X004", "A model of too many external files.", "Save it with all tensors in one file."},
    /* weights */
    {"W001", "The file is too short for safetensors, or its header longer than the file or the limit.",
     "It is cut, or in another format."},
    {"W002", "The header of the safetensors file is no JSON object.", "It is in another format, or damaged."},
    {"W004", "A tensor's place in the file is no begin and end.", "Write the file again."},
    {"W005", "A tensor reaches beyond the file, or shares bytes with another.", "The file is cut or was made by hand."},
    {"W006", "Bytes of the file belong to no tensor.", "Write the file again: tensors follow each other without gaps."},
    {"W007", "A tensor's shape is missing, too large, or does not fit its bytes.", "Write the file again."},
    {"W008", "A tensor's element type is missing, or none that safetensors has.", "Convert it before it is saved."},
    {"W009", "Metadata of a safetensors file that are no text.", "Metadata are texts by name."},
    /* arrays */
    {"N001", "No npy file, or of a version that is not known.", "numpy.save writes what is read here."},
    {"N002", "The header of the npy file is damaged or cut.", "Save the array again."},
    {"N003", "The array holds Python objects.",
     "Convert it to numbers: numpy.save with allow_pickle=False refuses it."},
    {"N004", "The array's element type is not supported.",
     "Convert it: f32, f64, whole numbers of 8 to 64 bits, bool."},
    {"N005", "The array's shape overflows, or has too many dimensions.", "Its header is damaged."},
    {"N006", "The file has more or fewer bytes than its shape needs.", "It is cut, or two files were joined."},
    /* compiling */
    {"T001", "There is no C compiler.",
     "Install gcc or clang, or name one: TESSERA_CC=/path/to/cc. Without any, --target "
     "interp runs everything, slowly."},
    {"T002", "The compiler failed: it does not say what it is, or ended with an error.",
     "Its own words follow the message. Try it: cc --version. TESSERA_CC names another, --isa another instruction "
     "set."},
    {"T003", "The compiler was killed by a signal: it crashed, or something ended it.",
     "Signal 9 often means too little memory. TESSERA_CC names another compiler, --isa another instruction set."},
    {"T004", "The compiler took too long and was stopped.",
     "If the machine is not busy, another compiler may help: TESSERA_CC."},
    {"T005", "What the compiler made is no program for this machine.",
     "It compiles for another one, or its output was damaged: tessera cache verify."},
    {"T006", "What the compiler made lacks a function that it was given.", "Another compiler may help: TESSERA_CC."},
    {"T007", "The compiled program cannot be loaded.",
     "The system's words say why; where files in memory may not be run, a policy of the machine forbids it."},
    {"T008", "A compiler option that is not allowed.", "Only options that cannot change results are."},
    {"K002", "An entry of the cache is damaged; it was set aside and what it held is built again.",
     "Once is bad luck, often is a bad disk: tessera cache verify."},
    {0}};

const code_page exit_codes[] = {
    {"0", "Done, and what was asked to hold does.",
     "Warnings and notes on standard error may still be worth reading. Verdicts of bench and what it finds INVALID "
     "count where --fail-on names them."},
    {"1", "What was asked to hold does not: --fail-on, or a check.",
     "Results stand on standard output, with the reason beside what is INVALID. bench and compare end so where "
     "--fail-on names what came about, run where it differs from another run, check-grad, adbench, onnx-test and cache "
     "verify where they find something wrong."},
    {"2", "Usage: a bad option, a missing argument.",
     "The hint names the nearest word; tessera help VERB has them all."},
    {"3", "Input rejected: model, schema or data malformed.",
     "The message begins with the place: file:line:column or the name within the file. Files are never trusted, so "
     "one that other programs accept may be refused here. A code in the message, as M014, has a page of its own."},
    {"4", "Valid but not supported: operator, dtype, version, shape.",
     "The message lists all that is missing at once. tessera ops --onnx shows what is served; another export may do "
     "without."},
    {"5", "Toolchain: compiler missing, failed, timed out.",
     "tessera doctor shows the compilers; TESSERA_CC names another; --target interp needs none."},
    {"6", "Numerics: output outside tolerance, index out of range.",
     "What was computed is not what it should be, or an index in the data points outside: the message has the place "
     "and the numbers."},
    {"7", "Memory: would exceed the limit, or allocation failed.",
     "Smaller --dim, fewer candidates, or a larger --mem-limit. While a file is read: --limit, if it is to be "
     "trusted."},
    {"8", "Files: cannot read or write, disk full.",
     "The message names the path and the system's reason. Nothing is left half written."},
    {"9", "Device absent, lost or faulted.", "tessera doctor shows the targets that can be used."},
    {"10", "Training stopped: NaN, infinity or divergence.",
     "The last checkpoint is whole. A smaller --lr, --clip 1, or --on-nan skip; the message says where it began."},
    {"70", "Internal error: a bug in Tessera.",
     "Please report it with the message, the command line and what tessera doctor --json prints."},
    {"124", "A time limit was reached.",
     "Samples measured until then are saved. Use a longer --timeout, or a smaller model."},
    {"130", "Stopped by SIGINT (Ctrl-C).",
     "Training saved a checkpoint first and said how to go on. What was being compiled is stopped, and its files are "
     "removed; a second Ctrl-C leaves at once."},
    {"143", "Stopped by SIGTERM.", "As for Ctrl-C."},
    {0}};

const code_page *code_find(const char *code)
{
    for (const code_page *p = exit_codes; p->code; p++)
        if (strcasecmp(p->code, code) == 0)
            return p;
    for (const code_page *p = message_codes; p->code; p++)
        if (strcasecmp(p->code, code) == 0)
            return p;
    return NULL;
}
