// `schema diff`: what changed between two versions of a schema, and whether who holds or reads older messages still can.
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { diffSchemas } from '@baton/protocol/schema-diff'
import type { SchemaChange } from '@baton/protocol/schema-diff'
import { permanent } from '@baton/runtime'
import { ROOT } from '../root.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { renderTable } from '../terminal/table.ts'

export async function schemaDiff(
  { output }: Pick<Context, 'output'>,
  older: string,
  newer: string,
): Promise<ExitCode> {
  const changes = diffSchemas(await readSchema(older), await readSchema(newer))
  const isCompatible = changes.every(({ breaks }) => breaks.length === 0)
  if (output.json) output.data(JSON.stringify({ compatible: isCompatible, changes }))
  else if (changes.length > 0) output.data(table(changes))
  if (isCompatible) output.check('passed', 'compatible', describe(changes, newer))
  else
    output.check('failed', 'not compatible', 'write a new major version, or take the change back')
  return isCompatible ? EXIT.fine : EXIT.failure
}

const describe = (changes: readonly SchemaChange[], newer: string): string =>
  changes.length === 0
    ? 'they say the same'
    : `older messages are valid under ${newer}, and older receivers take newer ones`

const table = (changes: readonly SchemaChange[]): string =>
  renderTable(
    [{ title: 'PLACE' }, { title: 'CHANGE' }, { title: 'BREAKS' }],
    changes.map(({ pointer, change, breaks }) => [
      pointer || '/',
      change,
      breaks.join(', ') || '-',
    ]),
  )

/** As the registry names them. */
const PUBLISHED = /^(?:[a-z0-9-]+\/)?\d+(?:\.\d+)?$/

/** A file, or a published version: `handoff/2.1`, and for the message `2.1` alone. Throws BATON_USAGE. */
async function readSchema(named: string): Promise<Readonly<Record<string, unknown>>> {
  const path = PUBLISHED.test(named)
    ? join(ROOT, 'schemas', `${named.includes('/') ? named : `handoff/${named}`}.json`)
    : resolve(named)
  try {
    const schema: unknown = JSON.parse(await readFile(path, 'utf8'))
    if (typeof schema === 'object' && schema !== null && !Array.isArray(schema))
      return schema as Readonly<Record<string, unknown>>
  } catch (cause) {
    throw unreadable(named, cause)
  }
  throw unreadable(named)
}

const unreadable = (named: string, cause?: unknown) =>
  permanent('BATON_USAGE', `${JSON.stringify(named)} is no schema`, {
    cause,
    fix: 'Give a JSON file, or a version of schemas/registry.json such as handoff/2.1.',
  })
