// Which schema versions a receiver accepts (features 4.3): its major, two minors back, newer minors.
import type { Detail } from './detail.ts'

/** The newest minor of schema major 2 this code knows. */
export const NEWEST_MINOR = 2
const MAJOR = 2
export const MINORS_BACK = 2

export type SchemaVersion =
  /** `known` is false for a newer minor, whose unknown fields are kept but never interpreted. */
  | { readonly ok: true; readonly minor: number; readonly known: boolean }
  | { readonly ok: false; readonly detail: Detail }

/** Reads `schemaVersion` of a message before its schema is chosen, for a receiver whose newest minor is `newest`. */
export function readSchemaVersion(schemaVersion: unknown, newest = NEWEST_MINOR): SchemaVersion {
  if (typeof schemaVersion !== 'string')
    return refuse('the schema version is missing or not a text')
  const match = /^([0-9]{1,6})\.(0|[1-9][0-9]{0,5})$/.exec(schemaVersion)
  if (match === null) return refuse('the schema version is not of the form major.minor')
  const minor = Number(match[2])
  if (Number(match[1]) !== MAJOR) return refuse(`schema major ${match[1]} is not spoken here`)
  if (minor < newest - MINORS_BACK) return refuse(`schema version ${schemaVersion} is too old`)
  return { ok: true, minor, known: minor <= newest }
}

function refuse(message: string): SchemaVersion {
  return {
    ok: false,
    detail: {
      pointer: '/schemaVersion',
      rule: 'schemaVersion',
      message,
      fix: `Send schema version ${MAJOR}.${NEWEST_MINOR}, or an older minor without the fields that are newer.`,
      expected: `${MAJOR}.x`,
    },
  }
}
