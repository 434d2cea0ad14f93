"""The texts of all findings, in the order of their codes: the cause and, where there is one, the next step.

``{name}`` stands for a value that the finder gives, ``{limit:NAME}`` for a limit and how to set another one.
"""

from __future__ import annotations

from scorer.core.findings import Code, Message

# A file that cannot be opened or read.
CANNOT_BE_READ = Message(Code.UNREADABLE, "cannot be read ({why})")
NO_FILE_OR_FOLDER = Message(Code.UNREADABLE, "neither a folder nor a regular file")
DAMAGED = Message(Code.UNREADABLE, "the compressed data are damaged or cut ({why}); compress the file again")
UNPACKED_TOO_LONG = Message(Code.UNREADABLE, "what is compressed is longer, in bytes, than {limit:unpacked-bytes}")

# Bytes that are no text.
NOT_TEXT = Message(Code.NOT_UTF8, "the file is {found}")
NOT_UTF8 = Message(Code.NOT_UTF8, "byte offset {offset}: not valid UTF-8 (0x{byte:02x}); save the file as UTF-8")
BYTE_ORDER_MARK = Message(Code.BYTE_ORDER_MARK, "a UTF-8 byte order mark at the start was ignored")

# Text that is no JSON.
TOO_DEEP = Message(Code.BAD_JSON, "arrays or objects are nested deeper than {limit:depth}")
NOT_JSON = Message(Code.BAD_JSON, "column {at}: not JSON ({cause})")
MARKDOWN_FENCE = Message(Code.BAD_JSON, "a markdown fence in a predictions file; remove the fence lines")
MARK_INSIDE = Message(Code.BAD_JSON, "a byte order mark in the middle of the file (files joined?); remove it")
SECOND_VALUE = Message(
    Code.BAD_JSON, "column {at}: second JSON value on the same line (missing newline after an interrupted run?)"
)
TEXT_AFTER_VALUE = Message(Code.BAD_JSON, "column {at}: text after the JSON value")
INCOMPLETE_LINE = Message(Code.BAD_JSON, "incomplete JSON (one object over several lines? write each row on one line)")
INCOMPLETE_FILE = Message(Code.BAD_JSON, "incomplete JSON, no newline at the end of the file (interrupted run?)")
SINGLE_QUOTES = Message(Code.BAD_JSON, "single quotes: this is Python repr, not JSON; write rows with json.dumps")
ARRAY_NOT_CLOSED = Message(Code.BAD_JSON, "the array is not closed (interrupted run?)")
TRAILING_COMMA = Message(Code.BAD_JSON, "trailing comma before the ] on line {end}; remove it")
MISSING_COMMA = Message(Code.BAD_JSON, "missing comma between array entries (JSONL lines wrapped in [ ]?)")
TEXT_AFTER_ARRAY = Message(Code.BAD_JSON, "text after the ] that closes the array")
LINE_TOO_LONG = Message(Code.LINE_TOO_LONG, "the line is longer, in bytes, than {limit:line-bytes}")
ARRAY_TOO_LONG = Message(
    Code.ARRAY_TOO_LONG, "the JSON array is longer than {limit:array-bytes}; write JSON Lines instead"
)

# Rows as such.
TOO_MANY_ROWS = Message(Code.TOO_MANY_ROWS, "the file has more lines than {limit:rows}")
NOT_AN_OBJECT = Message(Code.NOT_AN_OBJECT, "expected an object, found {found}")
NOT_A_MAPPING = Message(Code.NOT_AN_OBJECT, "expected a mapping, found {found}")
NO_ROWS = Message(Code.NO_ROWS, "no prediction rows")
REPEATED_KEY = Message(Code.REPEATED_KEY, 'the key "{key}" appears twice; the last value counts')

# Ids.
FILTERED_OUT = Message(Code.NO_KNOWN_ID, "no row belongs to an example that the filter keeps")
NO_IDS = Message(Code.NO_KNOWN_ID, 'no row has an id; rows look like {{"id": "{example}", "point": [612, 388]}}')
NO_BENCHMARK = Message(
    Code.NO_KNOWN_ID,
    "none of {ids} ids looks like one of a known benchmark ({known}); --benchmark NAME says which it is",
)
OTHER_IDS = Message(Code.NO_KNOWN_ID, "none of {ids} ids belongs to {benchmark}; {looks}")
NO_ID = Message(Code.NO_ID, "the row has no id{has}; rows are never matched by position")
LIST_INSIDE = Message(
    Code.NO_ID, 'the row has no id; found a list under "{key}" with {entries} entries: submit that list'
)
IDS_AS_KEYS = Message(Code.NO_ID, 'the object maps ids to points; expected rows like {{"id": ..., "point": [x, y]}}')
ID_TYPE = Message(Code.ID_TYPE, "id must be a string, found {found} (ids are strings like {example})")
UNKNOWN_ID = Message(Code.UNKNOWN_ID, "{explanation}")
SAME_ANSWER_AGAIN = Message(Code.DUPLICATE_ID, "was already given on {before} with the same answer")
OTHER_ANSWER = Message(
    Code.DUPLICATE_ID,
    "was already given on {before} with another answer ({then} then, {here} here); the last row counts",
)
ATTEMPT_AGAIN = Message(Code.DUPLICATE_ID, "attempt {attempt} was already given; the last row counts")
ABSENT_IDS = Message(
    Code.ABSENT_ID, "{absent} of {n} examples of {benchmark} have no row, count as wrong: {listed}{hint}"
)
NOT_SELECTED = Message(Code.NOT_SELECTED, "{rows} rows belong to examples that the filter leaves out")

# Attempts.
ABSENT_ATTEMPTS = Message(Code.ABSENT_ATTEMPT, "{missing} of {wanted} attempts at examples of {benchmark} have no row")
LATER_ATTEMPT = Message(Code.OTHER_ATTEMPT, "a row of a later attempt; only attempt 1 is scored (--attempts K takes K)")
ATTEMPT_TOO_HIGH = Message(Code.BAD_ATTEMPT, "the attempt is beyond {limit:attempts}; it is not scored")
NO_ATTEMPT = Message(Code.BAD_ATTEMPT, "attempt must be a whole number from 1; read as 1")

# Spaces.
UNKNOWN_SPACE = Message(Code.BAD_SPACE, "{why}; the row counts as no_answer")
TOO_MANY_SPACES = Message(Code.BAD_SPACE, "more different spaces than {limit:spaces}")
SPACE_WITHOUT_MEANING = Message(Code.BAD_SPACE, "{space} cannot express this answer on a {width}x{height} screenshot")
BEYOND_THE_SPACE = Message(Code.BAD_NUMBER, "{space} cannot express this answer on a {width}x{height} screenshot")
MIXED_SPACES = Message(Code.MIXED_SPACE, "answers of {benchmark} are in several spaces: {spaces}")

# The geometry of an answer.
NO_ANSWER = Message(Code.EMPTY_ANSWER, 'the row has no "{wanted}"{has}')
NO_CANDIDATES = Message(Code.EMPTY_ANSWER, "points is empty")
NO_PAIR = Message(Code.WRONG_SHAPE, "{name} is no [x, y]; it does not count")
POINT_IS_TEXT = Message(Code.WRONG_SHAPE, "{key} is a string; write it as a JSON array [x, y]")
POINT_IS_OBJECT = Message(Code.WRONG_SHAPE, '{key} is an object; write it as "{key}": [x, y]')
NESTED_POINT = Message(Code.WRONG_SHAPE, "{key} is nested one level too deep; write [x, y]")
HALF_A_POINT = Message(Code.WRONG_SHAPE, "{key} holds {numbers} of 2 numbers")
POINT_WANTED = Message(
    Code.WRONG_SHAPE, 'wants "point"; the row has "{found}" (the centre of a box is not taken for a point)'
)
BOX_WANTED = Message(Code.WRONG_SHAPE, 'wants "bbox"; the row has "{found}"')
NUMBER_IS_TEXT = Message(Code.BAD_NUMBER, "{name} is a string, read as {value:.15g}; write numbers without quotes")
NO_NUMBER = Message(Code.BAD_NUMBER, "{name} is {what}; {lost}")
NO_NUMBER_IN_BOX = Message(Code.BAD_NUMBER, "{key} has {entries} entries, entry {entry} is {what}; it is not read")
BOX_IN_TEXT = Message(Code.NUMBER_IN_TEXT, 'the box {box} was read out of {key}; write it as "bbox"{public}')
ACCIDENT_IN_TEXT = Message(Code.NUMBER_IN_TEXT, "no box in {key}; the public scorer would read {box} out of it")
MORE_NUMBERS = Message(Code.EXTRA_NUMBERS, "{numbers} numbers in {key}{hint}; the first {used} count")
TOO_MANY_CANDIDATES = Message(Code.CANDIDATE_COUNT, "{count} candidate points, more than {limit:candidates}")
SEVERAL_POINTS = Message(Code.CANDIDATE_COUNT, "{count} points in {key}, expected one [x, y]")
CANDIDATES_UNASKED = Message(
    Code.CANDIDATE_COUNT, 'the row has candidate "points"; this benchmark asks for one "point"'
)
SEVERAL_CANDIDATES = Message(Code.SEVERAL_CANDIDATES, "{count} candidate points; any of them may hit")
REFUSAL_AND_POINT = Message(Code.REFUSAL_AND_POINT, "the candidate points both name a place and say that there is none")
REFUSAL_MARKER = Message(Code.REFUSAL_MARKER, "refuses by {marker}, not by a negative answer; it counts as no_answer")
KEY_CONFLICT = Message(Code.KEY_CONFLICT, "{used} and {other} differ; {used} was used")
INVERTED_BOX = Message(
    Code.INVERTED_BOX,
    "{box}: the corners are swapped and were sorted; read as x, y, width, height it would be {as_sizes}",
)
ZERO_AREA = Message(Code.ZERO_AREA, "{box}: the box has no area (a point given for a box task?)")
OUTSIDE_THE_SCREENSHOT = Message(
    Code.OUT_OF_FRAME, "the answer is pixel {answer}, outside the {width}x{height} screenshot"
)

# Fields beside the answer.
ERROR_WITH_ANSWER = Message(
    Code.ERROR_WITH_ANSWER, "the row records an error and also gives an answer; it counts as run_error"
)
VERDICT_IN_ROW = Message(Code.IGNORED_FIELD, '"{key}" is not read: verdicts and targets are made here')
BOX_IN_ROW = Message(Code.IGNORED_FIELD, '"{key}" is not read for a point task (the target, or the box of the answer?)')

# Ground truth.
UNUSABLE_RECORD = Message(Code.GT_ROW, "{record}: {fault}")
RECORD_AGAIN = Message(Code.GT_DUPLICATE_ID, "id {example} appears twice (entries {first} and {entry}) with {boxes}")
TARGET_OUTSIDE = Message(
    Code.GT_OUTSIDE_IMAGE,
    "id {example}: {shape} exceeds image_size {width}x{height} (wrong file or resized copy?); scored as given",
)
ANSWER_TYPE_MISSING = Message(
    Code.GT_ANSWER_TYPE, "id {example}: answer_type is missing; read as a {task} task from eval.type"
)
NO_INSTRUCTION = Message(Code.GT_EMPTY_INSTRUCTION, "id {example}: the instruction is empty; the record is kept")
SIDE_FILE_UNUSABLE = Message(Code.GT_CATEGORIES, "{fault}; {instead}")
UNKNOWN_ID_IN_CATEGORY = Message(
    Code.GT_CATEGORIES, "{category} lists {example}, which the annotations do not have; it is not counted"
)
VARIANTS_DIFFER = Message(Code.GT_VARIANTS_DIFFER, "{example}: {file} has {mine}, {other_file} has {others}")
NOT_OFFICIAL = Message(Code.GT_NOT_OFFICIAL, "not the official file of {title} (sha256 {digest}…); scored as given")
NO_SCREENSHOT = Message(Code.GT_SCREENSHOT, "{examples} on a blank frame: {why}")

# Bundles.
NO_BUNDLE_ZIP = Message(
    Code.BUNDLE_ARCHIVE,
    "{fault}; make the zip with score bundle, or without compression (zip -0), or verify the unpacked folder",
)
FILE_MISSING = Message(Code.BUNDLE_FILE, "is missing")
FILE_UNKNOWN = Message(Code.BUNDLE_FILE, "belongs to no bundle")
NO_SUBMISSION = Message(Code.BUNDLE_FILE, "is missing: not a bundle, or not its top folder")
TOO_MANY_FILES = Message(Code.BUNDLE_FILE, "it holds more than {most} files; a bundle has a handful")
NO_PLAIN_FILE = Message(Code.BUNDLE_FILE, "{kind}; a bundle holds files alone")
BUNDLE_FILE_UNREADABLE = Message(Code.BUNDLE_FILE, "cannot be read ({why})")
BUNDLE_FILE_TOO_LONG = Message(Code.BUNDLE_FILE, "is longer, in bytes, than {limit:bundle-bytes}")
SUBMISSION_NO_OBJECT = Message(Code.BUNDLE_FORM, "not an object in JSON ({found})")
SUBMISSION_EDITED = Message(
    Code.BUNDLE_FORM, "not in the form that score bundle writes (edited? make the bundle again)"
)
SUBMISSION_FORM = Message(Code.BUNDLE_FORM, "{fault}")
ROWS_EDITED = Message(Code.BUNDLE_FORM, "not in the rows that score bundle writes (edited? make the bundle again)")
CHANGED_AFTER_BUNDLING = Message(Code.BUNDLE_HASH, "its sha256 is not the one in {file}: changed after bundling")
OTHER_SUMS = Message(Code.BUNDLE_HASH, "these are not the sums of this bundle's files, as score bundle lists them")
CHANGED_OR_SUMS = Message(Code.BUNDLE_HASH, "its sha256 is not the one in {file}: one of the two was changed")
MANIFEST_ANSWER = Message(Code.BUNDLE_MANIFEST, "{fault}")
OTHER_SIGNATURE = Message(Code.BUNDLE_CLAIM, "{benchmark}: {how}")
OTHER_FIGURE = Message(Code.BUNDLE_CLAIM, "{benchmark}: {key} claims {claims}, the predictions give {gives}")

# Run folders.
RUN_TASK_COUNT = Message(Code.RUN_DETAIL, "there are {details} details of {tasks} tasks")
RUN_TREE = Message(Code.RUN_DETAIL, "{fault}")
RUN_VALUE = Message(Code.RUN_DETAIL, "a value of it is not what score --output-dir writes")
TASK_PARTS = Message(Code.RUN_DETAIL, "a task needs its id, labels, and attempts with a status and metrics.correct")
TASK_NAME = Message(Code.RUN_DETAIL, "the name of the file is not that of its task")
TASK_LABEL = Message(Code.RUN_DETAIL, "has no label of {axis}, the axis that run.json names")
DETAIL_NO_FILE = Message(Code.RUN_DETAIL, "no regular file")
DETAIL_UNREADABLE = Message(Code.RUN_DETAIL, "cannot be read ({why})")
DETAIL_NOT_JSON = Message(Code.RUN_DETAIL, "not JSON ({why})")
DETAIL_NO_OBJECT = Message(Code.RUN_DETAIL, "expected an object, found {found}")
DETAIL_KEYS = Message(Code.RUN_DETAIL, "{keys}")
