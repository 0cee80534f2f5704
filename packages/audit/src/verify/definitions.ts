// Whether the schema of the log is what its migrations made: a lying view, a hidden row or a trigger needs no changed record.
import { readFileSync } from 'node:fs'
import { inSnapshot } from '../database.ts'
import type { Pool, Snapshot } from '../database.ts'
import {
  ANY_DAY,
  describeSchema,
  migrationsOf,
  partitionsOf,
  readApplied,
} from './describe-schema.ts'
import type { Description, SchemaName } from './describe-schema.ts'
import { differencesOf, namesOf, sentencesOf } from './definition-differences.ts'

export interface DefinitionReport {
  /** What is not as the migrations made it, as one sentence each: which thing, what was found, what was made. */
  readonly altered: readonly string[]
  /** What cannot be compared, and why; null where everything was. */
  readonly notCompared: string | null
}

const SENTENCES_MAX = 100

/** What Postgres writes out of its own trees, or is of its version: a later one may say it otherwise. */
const SPELLED = /^(?:view|constraint|index|trigger|column|partitions|rows|functions|operators) /
export const OF_POSTGRES = /^(?:functions|operators) of Postgres (\d+)$/

const made = new Map<SchemaName, Description>()

/** What the migrations make, as `generate-definitions.ts` wrote it down. */
function definitionsMade(schema: SchemaName): Description {
  const known = made.get(schema)
  if (known !== undefined) return known
  const text = readFileSync(
    new URL(`../generated/${schema}-definitions.txt`, import.meta.url),
    'utf8',
  )
  const read = readDefinitions(text)
  made.set(schema, read)
  return read
}

/** Lines that begin with # are words for people. */
export function readDefinitions(text: string): Description {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => {
      const at = line.indexOf(' := ')
      return [line.slice(0, at), line.slice(at + ' := '.length)]
    }),
  )
}

/**
 * Holds the schema to what its migrations made. A difference counts where a second look sees it too: a partition
 * may be made or dropped while the first one is taken. In a database with other migrations nothing is called
 * altered, and what differs is said.
 */
export async function compareDefinitions(
  pool: Pool,
  schema: SchemaName = 'audit',
): Promise<DefinitionReport> {
  const first = await inSnapshot(pool, (db) => compareIn(db, schema))
  if (first.altered.length === 0 && first.notCompared === null) return first
  const second = await inSnapshot(pool, (db) => compareIn(db, schema))
  const seen = new Set(first.altered)
  const altered = second.altered.filter((sentence) => seen.has(sentence))
  const more = altered.length - SENTENCES_MAX
  return {
    altered: more > 0 ? [...altered.slice(0, SENTENCES_MAX), `… and ${more} more`] : altered,
    notCompared: second.notCompared,
  }
}

async function compareIn(db: Snapshot, schema: SchemaName): Promise<DefinitionReport> {
  const expected = definitionsMade(schema)
  const found = await describeSchema(db, schema, relationsOf(expected))
  const differing = differencesOf(found, expectedOf(found, expected))
  if (differing.length === 0) return { altered: [], notCompared: null }
  const version = otherVersion(await readApplied(db), migrationsOf(schema))
  if (version !== null) {
    return {
      altered: [],
      notCompared: `the schema ${schema} ${version}; what differs: ${namesOf(differing)}`,
    }
  }
  const isKnown = expected.has(`functions of Postgres ${majorOf(found)}`)
  const unsaid = isKnown ? [] : differing.filter(({ object }) => SPELLED.test(object))
  return {
    altered: sentencesOf(
      differing.filter((one) => !unsaid.includes(one)),
      found,
    ),
    notCompared:
      unsaid.length === 0
        ? null
        : `Postgres ${majorOf(found)} is not known to this version, and may spell otherwise what differs of the schema ${schema}: ${namesOf(unsaid)}`,
  }
}

/** Why these are not the migrations of this version; null where they are. */
function otherVersion(applied: readonly string[] | null, own: readonly string[]): string | null {
  if (applied === null) return 'is older than this version: run `baton migrate`'
  const missing = own.filter((name) => !applied.includes(name))
  if (missing.length > 0) return `has not ${missing.join(', ')} yet: run \`baton migrate\``
  const further = applied.filter((name) => !own.includes(name))
  if (further.length === 0) return null
  return `is newer than this version (${further.join(', ')}): ask a Baton of that version`
}

const relationsOf = (expected: Description): readonly string[] =>
  [...expected.keys()].flatMap((object) => {
    const [, name] = /^table (\w+)$/.exec(object) ?? []
    return name === undefined ? [] : [name]
  })

/** What is expected of a database with these partitions, on this version of Postgres. */
function expectedOf(found: Description, expected: Description): Description {
  const whole = new Map<string, string>()
  const partitions = partitionsOf(found)
  const major = majorOf(found)
  for (const [object, state] of expected) {
    const [, version = major] = OF_POSTGRES.exec(object) ?? []
    if (version !== major) continue
    if (!object.includes(ANY_DAY)) whole.set(object, state)
    for (const { partition, pattern } of partitions)
      if (object.includes(pattern)) whole.set(object.replace(pattern, partition), state)
  }
  return whole
}

function majorOf(found: Description): string {
  for (const object of found.keys()) {
    const [, major] = OF_POSTGRES.exec(object) ?? []
    if (major !== undefined) return major
  }
  return 'of no version'
}
