// Reads the members of a message one by one; the first that cannot be read refuses the message. Unknown members are ignored (S19).
import type { JsonObject, JsonValue } from '../../json.ts'
import { pointerTo } from '../../json.ts'
import { isSameMajor, PROTOCOL_VERSION } from './words.ts'

/** Why a message cannot be taken: what is wrong, where, and how to mend it. Never repeats what the peer wrote. */
export interface SessionProblem {
  readonly pointer: string
  readonly problem: string
  readonly fix: string
}

export type Read<Value> =
  | { readonly ok: true; readonly value: Value }
  | ({ readonly ok: false } & SessionProblem)

class MemberRefused extends Error {
  readonly found: SessionProblem

  constructor(pointer: string, problem: string, fix: string) {
    super(problem)
    this.found = { pointer, problem, fix }
  }
}

/** Ends the reading around it. */
export function refuse(pointer: string, problem: string, fix: string): never {
  throw new MemberRefused(pointer, problem, fix)
}

/** What `read` reads, or why it cannot be read. */
export function reading<Value>(read: () => Value): Read<Value> {
  try {
    return { ok: true, value: read() }
  } catch (error) {
    if (error instanceof MemberRefused) return { ok: false, ...error.found }
    throw error
  }
}

const NAME_MAX = 256
const LIST_MAX = 1_000

export interface Members {
  /** Undefined where there is none, or null. */
  readonly value: (name: string) => JsonValue | undefined
  /** A name or an id; `null` where it is left out. */
  readonly name: (name: string) => string | null
  readonly text: (name: string, lengthMax: number) => string | null
  readonly count: (name: string) => number | null
  readonly flag: (name: string) => boolean | null
  readonly names: (name: string) => readonly string[]
  readonly oneOf: <Word extends string>(name: string, words: readonly Word[]) => Word | null
  /** The members of a member; of none where it is left out. */
  readonly object: (name: string) => Members
  readonly all: JsonObject
}

export const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isName = (value: JsonValue | undefined): value is string =>
  typeof value === 'string' && value !== '' && value.length <= NAME_MAX && !/\p{Cc}/u.test(value)

/** The members of a value that has to be an object. */
export function membersOf(value: JsonValue, pointer = ''): Members {
  if (!isObject(value)) refuse(pointer, 'expected an object', 'Send { ... }.')
  const at = (name: string): JsonValue | undefined =>
    Object.hasOwn(value, name) ? (value[name] ?? undefined) : undefined
  const read = <Type extends JsonValue>(
    name: string,
    isRight: (found: JsonValue) => boolean,
    wanted: string,
  ): Type | null => {
    const found = at(name)
    if (found === undefined) return null
    if (!isRight(found)) refuse(pointerTo(pointer, name), `expected ${wanted}`, `Send ${wanted}.`)
    return found as Type
  }
  return {
    all: value,
    value: at,
    name: (name) => read(name, isName, `a text of 1 to ${NAME_MAX} printable characters`),
    text: (name, lengthMax) =>
      read(
        name,
        (found) => typeof found === 'string' && found.length <= lengthMax,
        `a text of at most ${lengthMax} characters`,
      ),
    count: (name) =>
      read(
        name,
        (found) => Number.isSafeInteger(found) && Number(found) >= 0,
        'a whole number from 0',
      ),
    flag: (name) => read(name, (found) => typeof found === 'boolean', 'true or false'),
    names: (name) =>
      read<readonly string[]>(
        name,
        (found) => Array.isArray(found) && found.length <= LIST_MAX && found.every(isName),
        `a list of at most ${LIST_MAX} names`,
      ) ?? [],
    oneOf: (name, words) =>
      read(
        name,
        (found) => (words as readonly JsonValue[]).includes(found),
        `one of ${words.join(', ')}`,
      ),
    object: (name) => membersOf(at(name) ?? {}, pointerTo(pointer, name)),
  }
}

/** The members of a message of this type, in a version that can be read. */
export function messageMembers(value: JsonValue, type: string): Members {
  const members = membersOf(value)
  if (members.value('type') !== type)
    refuse('/type', `expected a ${type}`, `Send "type": "${type}".`)
  const version = required(members.name('protocol_version'), '/protocol_version')
  if (!isSameMajor(version))
    refuse(
      '/protocol_version',
      'this version of the protocol is not spoken here',
      `Speak ${PROTOCOL_VERSION}, or any later 2.x.`,
    )
  return members
}

export function required<Value>(value: Value | null, pointer: string): Value {
  if (value === null) refuse(pointer, 'is required', 'Add it.')
  return value
}
