# What is carried as text: built-in schemas, routines, files of emitted programs. Appends to `library` and `tool`.

# The file at `path`, its includes as in one folder, as what stands between the quotes of C strings, one a line; and in
# `variable`_includes from which byte to which these are.
function(c_string variable path)
    file(READ ${path} text)
    string(REGEX REPLACE "(#include )\"[^\"\n]*/" "\\1\"" text "${text}")
    string(REGEX MATCH "(#include \"[^\n]*\n)+" includes "${text}")
    string(FIND "${text}" "${includes}" from)
    string(LENGTH "${includes}" to)
    math(EXPR to "${from} + ${to}")
    set(${variable}_includes "${from}, ${to}" PARENT_SCOPE)
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
file(GENERATE OUTPUT ${gen}/builtin_schemas.c CONTENT "/* Written by the build. */\n#include \"schedule/schema/schemas.h\"\n\
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

# What pages of reports and of the command say, and their look: the files without the last line end.
file(GLOB pages CONFIGURE_DEPENDS bench/report/page/* cli/pages/*)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${pages})
foreach(page IN LISTS pages)
    cmake_path(GET page FILENAME name)
    c_string(text ${page})
    string(REGEX REPLACE "\\\\n\"\n +\"$" "" text "${text}")
    string(APPEND page_rows "    {\"${name}\",\n     \"${text}\"},\n")
endforeach()
file(GENERATE OUTPUT ${gen}/page_texts.c CONTENT "/* Written by the build. */\n#include \"bench/report/form.h\"\n\
const page_text page_texts[] = {\n${page_rows}    {0},\n};\n")
list(APPEND tool ${gen}/page_texts.c)

# Emitted programs carry these as text; one that trains has a main of its own.
file(GLOB_RECURSE runtime CONFIGURE_DEPENDS backends/*/runtime/*.[ch])
if(runtime) # what the library itself has, too
    list(APPEND runtime ${CMAKE_SOURCE_DIR}/backends/boxes.h)
endif()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${runtime} ${CMAKE_SOURCE_DIR}/train/emitted/main.c)
foreach(source IN LISTS runtime)
    cmake_path(GET source FILENAME name)
    c_string(text ${source})
    string(APPEND runtime_rows "    {\"${name}\",\n     \"${text}\", ${text_includes}},\n")
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
