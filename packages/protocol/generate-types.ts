// Writes src/generated/*.ts from the schemas; with --check it only says whether they are up to date.
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { compile } from 'json-schema-to-typescript'
import type { JSONSchema } from 'json-schema-to-typescript'

const DOCUMENTS = [
  { schema: 'handoff/2.2.json', output: 'handoff.ts' },
  { schema: 'checkpoint/1.json', output: 'checkpoint.ts' },
  { schema: 'decision-record/1.2.json', output: 'decision-record.ts' },
  { schema: 'dead-letter/1.json', output: 'dead-letter.ts' },
] as const

const BANNER = '// Generated from the schemas by generate-types.ts; do not edit.\n'

/** Fits a schema to what the type generator can say: free-form parts become the JSON types. */
function forTypes(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(forTypes)
  if (typeof node !== 'object' || node === null) return node
  const entries = Object.entries(node).filter(([key]) => !UNTYPED.has(key))
  const schema = Object.fromEntries(entries.map(([key, value]) => [key, forTypes(value)]))
  if (schema['$ref'] !== undefined) return { $ref: schema['$ref'] }
  if (schema['type'] === 'object' && schema['properties'] === undefined)
    return { description: schema['description'], tsType: 'JsonObject' }
  if (Object.keys(schema).every((key) => key === 'description') && 'description' in schema)
    return { ...schema, tsType: 'JsonValue' }
  return schema
}

// Keywords that bound values but do not change their type; sizes would become unions of tuples.
const UNTYPED = new Set(['patternProperties', 'propertyNames', 'minItems', 'maxItems', '$id'])

async function render(path: string): Promise<string> {
  const source = await readFile(
    fileURLToPath(import.meta.resolve(`@baton/schemas/${path}`)),
    'utf8',
  )
  const schema = forTypes(JSON.parse(source)) as JSONSchema & { title: string }
  const types = await compile(schema, schema.title, {
    additionalProperties: false,
    bannerComment: '',
    style: { semi: false, singleQuote: true, printWidth: 100, trailingComma: 'all' },
  })
  const used = ['JsonObject', 'JsonValue'].filter((name) => types.includes(`: ${name}`))
  const imports = used.length > 0 ? `import type { ${used.join(', ')} } from '../json.ts'\n` : ''
  return `${BANNER}${imports}\n${types}`
}

/** Returns the names of the files that differed from what the schemas say. */
async function synchronise(options: { write: boolean }): Promise<string[]> {
  const stale: string[] = []
  for (const { schema, output } of DOCUMENTS) {
    const target = new URL(`src/generated/${output}`, import.meta.url)
    const [wanted, found] = await Promise.all([
      render(schema),
      readFile(target, 'utf8').catch(() => ''),
    ])
    if (wanted === found) continue
    stale.push(output)
    if (options.write) await writeFile(target, wanted)
  }
  return stale
}

const check = process.argv.includes('--check')
const stale = await synchronise({ write: !check })
for (const output of stale)
  process.stderr.write(`${check ? 'out of date' : 'written'}: src/generated/${output}\n`)
if (check && stale.length > 0) {
  process.stderr.write('Run: node packages/protocol/generate-types.ts\n')
  process.exitCode = 1
}
