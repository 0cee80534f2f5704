// Reads one document with the parser of the AsyncAPI initiative, and says what it finds: node check-asyncapi.mjs FILE.
import { readFile } from 'node:fs/promises'
import { Parser } from '@asyncapi/parser'

const { document, diagnostics } = await new Parser().parse(
  await readFile(process.argv[2] ?? '', 'utf8'),
)
for (const { code, path, message } of diagnostics)
  process.stdout.write(`${code} at /${path.join('/')}: ${message}\n`)
if (document === undefined || diagnostics.length > 0) process.exitCode = 1
