// Decodes each line of standard input with the module that the argument names; answers with the
// path of what is wrong, null where nothing is, and "json" where the line is no JSON.
const { decodeLine, DecodeError } = await import(process.argv[2]);

function wrong(line) {
  try {
    decodeLine(line);
    return null;
  } catch (error) {
    if (error instanceof SyntaxError) return "json";
    if (!(error instanceof DecodeError) || !error.message.includes(error.path)) throw error;
    return error.path;
  }
}

let rest = "";
for await (const chunk of process.stdin.setEncoding("utf8")) {
  rest += chunk;
  if (!chunk.includes("\n")) continue;
  const lines = rest.split("\n");
  rest = lines.pop();
  process.stdout.write(lines.map((line) => `${JSON.stringify(wrong(line))}\n`).join(""));
}
