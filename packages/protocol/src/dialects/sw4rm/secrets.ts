// Takes secrets out of what agents tell of their tools: a marker with a keyed digest stands in place of each.
import { createHmac } from 'node:crypto'
import { pointerTo } from '../../json.ts'
import { isDict, isList } from './python-value.ts'
import type { PythonValue } from './python-value.ts'

export interface WithoutSecrets {
  readonly value: PythonValue
  /** Where something was taken out: RFC 6901 pointers into the value. */
  readonly places: readonly string[]
}

/** Members whose text is a secret whatever it looks like. Numbers are taken for the first kind only: a token count is none. */
const PASSWORD_NAME = /pass(?:word|wd|phrase|code)?$|^pwd|^pin$|secret/i
const SECRET_NAME =
  /token$|api_?key|access_?key|private_?key|signing_?key|encryption_?key|account_?key|license_?key|auth|credential|connection_?str|conn_?str|^dsn$|_dsn$|database_?ur[il]|bearer|cookie|session_?(?:id|key)|^sas|webhook_?url|^key$/i

/** Text that is a secret wherever it stands. Each pattern reads a text once. */
const SECRET_SHAPES: readonly RegExp[] = [
  // A URL with a password in it, and the connection strings of ADO, ODBC and libpq.
  /[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/@:]{0,256}:[^\s/@]{1,256}@/i,
  /(?:^|[;\s])(?:password|pwd|accountkey|sharedaccesskey|sig)\s?=\s?[^;\s]/i,
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----/,
  /\bey[A-Za-z0-9_-]{10,}\.ey[A-Za-z0-9_-]{10,}\./,
  /\b(?:A3T[A-Z0-9]|AKIA|ASIA)[A-Z0-9]{16}\b/,
  /\bgh[opsru]_[A-Za-z0-9]{36}|\bgithub_pat_[A-Za-z0-9_]{22}|\bglpat-[A-Za-z0-9_-]{20}/,
  /\bxox[abeoprs]-[A-Za-z0-9-]{10}|\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16}|\bbk_[0-9a-f]{12}_[A-Za-z0-9_-]{20}/,
  /\bAIza[A-Za-z0-9_-]{35}|\bSG\.[A-Za-z0-9_-]{22}\.|\bhf_[A-Za-z0-9]{30}|\bnpm_[A-Za-z0-9]{36}/,
  /^(?:bearer|basic)\s+[A-Za-z0-9+/=._-]{8}/i,
]

/** How much of a text is looked at; a longer one is no setting but data. */
const LOOKED_AT_MAX = 16_384

/** One unbroken word that mixes letters and digits: what keys look like that no list knows. */
const RANDOM_WORD = /^(?=[^\s]*[0-9])(?=[^\s]*[A-Za-z])[A-Za-z0-9+/=_-]{32,512}$/

export interface HidingOptions {
  /** Under which markers are made. */
  readonly salt: Uint8Array
  /**
   * Whether texts together are ones that a handoff must not bring. Such a text is left where it stands, however its member is called: the
   * checks of whoever receives it are to see it.
   */
  readonly isUnsafe?: ((texts: readonly string[]) => boolean) | undefined
}

interface Hiding {
  readonly salt: Uint8Array
  readonly shown: ReadonlySet<string>
  readonly texts: string[]
  readonly places: string[]
}

/** Twice where the first time would have hidden what is unsafe. */
function hidingIn(
  { salt, isUnsafe }: HidingOptions,
  walk: (hiding: Hiding) => PythonValue,
): WithoutSecrets {
  const hideAllBut = (shown: ReadonlySet<string>) => {
    const hiding: Hiding = { salt, shown, texts: [], places: [] }
    return { value: walk(hiding), places: hiding.places, texts: hiding.texts }
  }
  const { texts, ...hidden } = hideAllBut(new Set())
  const unsafe = isUnsafe === undefined ? [] : unsafeAmong([...new Set(texts)], isUnsafe)
  if (unsafe.length === 0) return hidden
  const { value, places } = hideAllBut(new Set(unsafe))
  return { value, places }
}

// By halves: most have none, and few texts make the difference. What is unsafe only together is kept together.
function unsafeAmong(
  texts: readonly string[],
  isUnsafe: (texts: readonly string[]) => boolean,
): readonly string[] {
  if (texts.length === 0 || !isUnsafe(texts)) return []
  if (texts.length === 1) return texts
  const middle = texts.length >> 1
  const found = [texts.slice(0, middle), texts.slice(middle)].flatMap((half) =>
    unsafeAmong(half, isUnsafe),
  )
  return found.length === 0 ? texts : found
}

/**
 * The tool state without its secrets: by name and by shape in its `configurations`, by known shapes everywhere else. Whoever has
 * not the salt cannot try guesses against a marker; equal secrets under one salt have equal markers.
 */
export const withoutToolSecrets = (
  toolState: PythonValue,
  options: HidingOptions,
): WithoutSecrets => hidingIn(options, (hiding) => withoutIn(toolState, hiding))

function withoutIn(toolState: PythonValue, hiding: Hiding): PythonValue {
  if (!isDict(toolState)) return withoutShapes(toolState, '', hiding)
  return new Map(
    [...toolState].map(([key, item]) => {
      const place = pointerTo('', key)
      return [
        key,
        key === 'configurations'
          ? withoutNamed(item, { place, name: '' }, hiding)
          : withoutShapes(item, place, hiding),
      ]
    }),
  )
}

/** Any other value without what has the shape of a secret. */
export const withoutSecretShapes = (value: PythonValue, options: HidingOptions): WithoutSecrets =>
  hidingIn(options, (hiding) => withoutShapes(value, '', hiding))

function withoutShapes(value: PythonValue, place: string, hiding: Hiding): PythonValue {
  if (typeof value === 'string') return hasSecretShape(value) ? hide(value, place, hiding) : value
  return mapMembers(value, (item, key) => withoutShapes(item, pointerTo(place, key), hiding))
}

interface Place {
  readonly place: string
  /** The nearest member name that says what stands here. */
  readonly name: string
}

function withoutNamed(value: PythonValue, { place, name }: Place, hiding: Hiding): PythonValue {
  if (typeof value === 'string')
    return isSecretText(value, name) ? hide(value, place, hiding) : value
  if (typeof value === 'bigint' || typeof value === 'number')
    return PASSWORD_NAME.test(name) ? hide(String(value), place, hiding) : value
  return mapMembers(value, (item, key) => {
    const inside = typeof key === 'number' || isSecretName(name) ? name : key
    return withoutNamed(item, { place: pointerTo(place, key), name: inside }, hiding)
  })
}

const isSecretName = (name: string): boolean => {
  const plain = name.replaceAll(/[-.\s]/g, '_')
  return PASSWORD_NAME.test(plain) || SECRET_NAME.test(plain)
}

const isSecretText = (text: string, name: string): boolean =>
  text !== '' && (isSecretName(name) || hasSecretShape(text) || RANDOM_WORD.test(text))

function hasSecretShape(text: string): boolean {
  const seen = text.slice(0, LOOKED_AT_MAX)
  return SECRET_SHAPES.some((shape) => shape.test(seen))
}

function mapMembers(
  value: PythonValue,
  change: (item: PythonValue, key: string | number) => PythonValue,
): PythonValue {
  if (isDict(value)) return new Map([...value].map(([key, item]) => [key, change(item, key)]))
  return isList(value) ? value.map((item, index) => change(item, index)) : value
}

function hide(text: string, place: string, { salt, shown, texts, places }: Hiding): string {
  if (shown.has(text)) return text
  texts.push(text)
  places.push(place)
  const digest = createHmac('sha256', salt).update(text).digest('hex')
  return `[secret hmac-sha256:${digest.slice(0, 16)}]`
}
