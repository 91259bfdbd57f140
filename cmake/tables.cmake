# What is written from the names and texts of sources: tables of operations, readers and the like, built-in schemas,
# files that emitted programs carry, protobuf, the commit. Appends to `library` and `tool`.

# table(VARIABLE NAME HEADER PREFIX DECLARATION ELEMENT FILES...) writes `NAME[]`, ended by NULL, of all PREFIX_x that
# FILES define at the start of a line. In DECLARATION (without "extern") and ELEMENT "%" stands for the name. Appends
# the file to VARIABLE.
function(table variable name header prefix declaration element)
    if(NOT EXISTS ${CMAKE_SOURCE_DIR}/${header} AND NOT EXISTS ${CMAKE_SOURCE_DIR}/include/${header})
        return()
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN})
    string(REGEX REPLACE "%.*" "" type "${declaration}")
    string(REGEX REPLACE " *%\\[\\]" " *" array "${declaration}")
    if(element MATCHES "^&")
        set(array "${type}*")
    endif()
    foreach(source IN LISTS ARGN)
        file(STRINGS ${source} lines REGEX "^const [a-z_]+ [*const ]*${prefix}_[A-Za-z0-9_]+(\\[\\])? =")
        foreach(line IN LISTS lines)
            string(REGEX MATCH "${prefix}_[A-Za-z0-9_]+" found "${line}")
            string(REPLACE "%" ${found} one "extern ${declaration};\n")
            string(APPEND externs "${one}")
            string(REPLACE "%" ${found} one "    ${element},\n")
            string(APPEND elements "${one}")
        endforeach()
    endforeach()
    file(GENERATE OUTPUT ${gen}/${name}.c CONTENT
        "/* Written by the build. */\n#include <stddef.h>\n#include \"${header}\"\n\
${externs}extern ${array}const ${name}[];\n${array}const ${name}[] = {\n${elements}    NULL,\n};\n")
    set(${variable} ${${variable}} ${gen}/${name}.c PARENT_SCOPE)
endfunction()

set(ops ${library})
list(FILTER ops INCLUDE REGEX "/graph/ops/")
set(optimizers ${library})
list(FILTER optimizers INCLUDE REGEX "/autodiff/optimizers/")
set(readers ${library})
list(FILTER readers INCLUDE REGEX "/import/")
set(backends ${library})
list(FILTER backends INCLUDE REGEX "/backends/[^/]+/")
set(models ${library})
list(FILTER models INCLUDE REGEX "/models/")
set(verbs ${tool})
list(FILTER verbs INCLUDE REGEX "/cli/")
table(library op_tables graph/ir/op.h ops "const op *const %[]" % ${ops})
table(library recognisers graph/passes/recognise.h recogniser "const recogniser %" &% ${ops})
table(library optimizers autodiff/optimizer.h optimizer "const optimizer %" &% ${optimizers})
table(library readers import/reader.h reader "const reader %" &% ${readers})
table(library token_models import/text/tokenizer.h token_model "const token_model %" &% ${readers})
table(library writers import/writer.h writer "const writer %" &% ${readers})
table(library backends backends/backend.h backend "const backend %" &% ${backends})
table(library builder_tables tessera.h builders "const ts_builder %[]" % ${models})
table(library objectives models/adbench/objective.h objective "const objective %" &% ${models})
table(tool verbs cli/verb.h verb "const verb %" &% ${verbs})

# The file at `path`, its includes as in one folder, as what stands between the quotes of C strings, one a line.
function(c_string variable path)
    file(READ ${path} text)
    string(REGEX REPLACE "(#include )\"[^\"\n]*/" "\\1\"" text "${text}")
    string(REPLACE "\\" "\\\\" text "${text}")
    string(REPLACE "\"" "\\\"" text "${text}")
    string(REPLACE "\n" "\\n\"\n     \"" text "${text}")
    set(${variable} "${text}" PARENT_SCOPE)
endfunction()

# Built-in schemas: backends/TARGET/schemas/NAME.json as text.
file(GLOB schemas CONFIGURE_DEPENDS backends/*/schemas/*.json)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${schemas})
foreach(schema IN LISTS schemas)
    cmake_path(GET schema STEM LAST_ONLY name)
    cmake_path(GET schema PARENT_PATH target)
    cmake_path(GET target PARENT_PATH target)
    cmake_path(GET target FILENAME target)
    c_string(text ${schema})
    string(APPEND rows "    {\"${target}\", \"${name}\",\n     \"${text}\"},\n")
endforeach()
file(GENERATE OUTPUT ${gen}/builtin_schemas.c CONTENT "/* Written by the build. */\n#include \"schedule/schemas.h\"\n\
const builtin_schema builtin_schemas[] = {\n${rows}    {0},\n};\n")
list(APPEND library ${gen}/builtin_schemas.c)

# Routines: graph/routines/NAME.c, compiled with the rest, and as text: generated programs carry it.
file(GLOB routines CONFIGURE_DEPENDS graph/routines/*.c)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${routines})
foreach(source IN LISTS routines)
    cmake_path(GET source STEM LAST_ONLY name)
    c_string(text ${source})
    string(APPEND routine_rows "    {\"${name}\",\n     \"${text}\"},\n")
endforeach()
file(GENERATE OUTPUT ${gen}/routine_texts.c CONTENT "/* Written by the build. */\n#include \"graph/ir/expr.h\"\n\
const struct routine_text routine_texts[] = {\n${routine_rows}    {0},\n};\n")
list(APPEND library ${gen}/routine_texts.c)

# Emitted programs carry these as text; one that trains has a main of its own.
file(GLOB_RECURSE runtime CONFIGURE_DEPENDS backends/*/runtime/*.[ch])
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${runtime} ${CMAKE_SOURCE_DIR}/train/emitted/main.c)
foreach(source IN LISTS runtime)
    cmake_path(GET source FILENAME name)
    c_string(text ${source})
    string(APPEND runtime_rows "    {\"${name}\",\n     \"${text}\"},\n")
endforeach()
if(runtime)
    file(GENERATE OUTPUT ${gen}/runtime_files.c CONTENT "/* Written by the build. */\n\
#include \"backends/emit/emit_folder.h\"\nconst carried_file runtime_files[] = {\n${runtime_rows}    {0},\n};\n")
    list(APPEND library ${gen}/runtime_files.c)
endif()
c_string(text ${CMAKE_SOURCE_DIR}/train/emitted/main.c)
file(GENERATE OUTPUT ${gen}/program_main.c CONTENT "/* Written by the build. */\n#include \"train/program.h\"\n\
const char program_main[] =\n     \"${text}\";\n")
list(APPEND tool ${gen}/program_main.c)

file(GLOB_RECURSE protos CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR} import/*.proto)
foreach(proto IN LISTS protos)
    string(REGEX REPLACE "\\.proto$" ".pb-c" stem ${gen}/${proto})
    add_custom_command(OUTPUT ${stem}.c ${stem}.h DEPENDS ${proto}
        COMMAND ${PROTOC_C} -I${CMAKE_SOURCE_DIR} --c_out=${gen} ${CMAKE_SOURCE_DIR}/${proto})
    list(APPEND library ${stem}.c ${stem}.h)
endforeach()

# The commit that is built, looked up at every build: results name it. Empty where the folder is no checkout of its own.
string(CONCAT look "cd $0 && [ \"$(git rev-parse --show-toplevel 2>/dev/null)\" = \"$(pwd -P)\" ] && "
    "commit=$(git describe --always --dirty --abbrev=12 --exclude '*'); "
    "printf '#include \"bench/machine/environment.h\"\\nconst char revision[] = \"%s\";\\n' \"$commit\" >$1.new; "
    "cmp -s $1.new $1 || cp $1.new $1")
add_custom_target(revision COMMENT "The commit that is built" BYPRODUCTS ${gen}/revision.c VERBATIM
    COMMAND sh -c "${look}" ${CMAKE_SOURCE_DIR} ${gen}/revision.c)
list(APPEND tool ${gen}/revision.c)

foreach(source IN LISTS library tool)
    if(source MATCHES "^${gen}/")
        set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS -w)
    endif()
endforeach()
