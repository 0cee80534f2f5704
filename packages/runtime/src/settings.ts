// Settings come from the environment, are checked whole, and every problem is reported at once.
import { permanent } from './errors.ts'

type Environment = Readonly<Record<string, string | undefined>>

interface Kind<Value> {
  readonly kind: string
  readonly help: string
  readonly default: Value | undefined
  readonly required: boolean
  readonly bounds: string
  readonly secret: boolean
  /** What it was called before; that name is refused, so that no value is passed over in silence. */
  readonly formerly: string | undefined
  /** Returns the value, or a sentence that says what was expected. */
  parse(raw: string): { value: Value } | { problem: string }
}

interface Common<Value> {
  readonly help: string
  readonly default?: Value
  /** `true` allows the setting to be absent without a default: its value is then undefined. */
  readonly optional?: boolean
  readonly formerly?: string
}

/** The values that `readSettings` answers for a spec. */
export type Settings<Spec> = {
  [Name in keyof Spec]: Spec[Name] extends Kind<infer Value> ? Value : never
}

function kind<Value>(
  name: string,
  common: Common<Value>,
  rest: Pick<Kind<Value>, 'parse'> & { bounds?: string; secret?: boolean },
): Kind<Value> {
  return {
    kind: name,
    help: common.help,
    default: common.default,
    required: common.default === undefined && common.optional !== true,
    bounds: rest.bounds ?? '',
    secret: rest.secret ?? false,
    formerly: common.formerly,
    parse: rest.parse,
  }
}

/** With a `pattern`, `bounds` says in words what it allows. */
export const text = (
  common: Common<string> & { readonly pattern?: RegExp; readonly bounds?: string },
): Kind<string> => {
  const { pattern = /^/, bounds = '' } = common
  return kind('text', common, {
    bounds,
    parse: (raw) => (pattern.test(raw) ? { value: raw } : { problem: `expected ${bounds}` }),
  })
}

/** With a `pattern`, `bounds` says in words what it allows. */
export function optionalText(common: {
  readonly help: string
  readonly pattern?: RegExp
  readonly bounds?: string
}): Kind<string | undefined> {
  const { parse, bounds } = text(common)
  return kind<string | undefined>('text', { help: common.help, optional: true }, { parse, bounds })
}

/** A value that is never printed. */
export const secret = (common: Common<string>): Kind<string> =>
  kind('secret', common, { secret: true, parse: (raw) => ({ value: raw }) })

export const optionalSecret = (common: { help: string }): Kind<string | undefined> =>
  kind<string | undefined>(
    'secret',
    { ...common, optional: true },
    { secret: true, parse: (raw) => ({ value: raw }) },
  )

export function integer(
  common: Common<number> & { readonly min: number; readonly max: number },
): Kind<number> {
  const bounds = `${common.min} to ${common.max}`
  return kind('integer', common, {
    bounds,
    parse: (raw) => {
      const value = Number(raw)
      const fits = /^-?\d+$/.test(raw) && value >= common.min && value <= common.max
      return fits ? { value } : { problem: `expected a whole number, ${bounds}` }
    },
  })
}

export const flag = (common: Common<boolean>): Kind<boolean> =>
  kind('flag', common, {
    bounds: '1 or 0',
    parse: (raw) => {
      if (['1', 'true', 'yes'].includes(raw)) return { value: true }
      if (['0', 'false', 'no'].includes(raw)) return { value: false }
      return { problem: 'expected 1 or 0' }
    },
  })

export const oneOf = <const Choice extends string>(
  choices: readonly Choice[],
  common: Common<Choice>,
): Kind<Choice> =>
  kind('choice', common, {
    bounds: choices.join(', '),
    parse: (raw) => {
      const value = choices.find((choice) => choice === raw)
      return value === undefined ? { problem: `expected one of ${choices.join(', ')}` } : { value }
    },
  })

const parseUrl = (
  raw: string,
  protocols: readonly string[],
): { value: string } | { problem: string } => {
  const protocol = URL.canParse(raw) ? new URL(raw).protocol.slice(0, -1) : ''
  return protocols.includes(protocol)
    ? { value: raw }
    : { problem: `expected a URL that starts with ${protocols.join(':// or ')}://` }
}

/** URLs may carry a password, so they are printed with it masked. */
export const url = (protocols: readonly string[], common: Common<string>): Kind<string> =>
  kind('url', common, { bounds: protocols.join(', '), parse: (raw) => parseUrl(raw, protocols) })

export const optionalUrl = (
  protocols: readonly string[],
  common: { help: string },
): Kind<string | undefined> =>
  kind<string | undefined>(
    'url',
    { ...common, optional: true },
    { bounds: protocols.join(', '), parse: (raw) => parseUrl(raw, protocols) },
  )

// eslint-disable-next-line typescript/no-explicit-any -- a record of kinds of different values
export type SettingsSpec = Record<string, Kind<any>>

/**
 * Reads every setting of `spec` from `environment`. An empty value counts as absent.
 * Throws one BATON_SETTINGS_INVALID that lists each variable, what is wrong and how to mend it.
 */
export function readSettings<Spec extends SettingsSpec>(
  spec: Spec,
  environment: Environment,
): Settings<Spec> {
  const problems: string[] = []
  const values: Record<string, unknown> = {}
  for (const [name, setting] of Object.entries(spec)) {
    const { formerly } = setting
    if (formerly !== undefined && (environment[formerly] ?? '') !== '')
      problems.push(`${formerly} is called ${name} now`)
    const raw = environment[name]
    if (raw === undefined || raw === '') {
      if (setting.required) problems.push(`${name} is missing: ${setting.help}`)
      values[name] = setting.default
      continue
    }
    const parsed = setting.parse(raw)
    if ('problem' in parsed) problems.push(`${name} is ${shown(setting, raw)}: ${parsed.problem}`)
    else values[name] = parsed.value
  }
  if (problems.length > 0) {
    throw permanent(
      'BATON_SETTINGS_INVALID',
      `settings are wrong:\n  - ${problems.join('\n  - ')}`,
      {
        fix: 'Correct the environment variables above; `baton settings` lists all of them.',
      },
    )
  }
  return values as Settings<Spec>
}

const shown = (setting: Kind<unknown>, raw: string): string =>
  setting.secret ? 'set (value hidden)' : JSON.stringify(maskPassword(raw))

/** Replaces the password of a URL, also of a malformed one; other text stays as it is. */
export function maskPassword(raw: string): string {
  return raw.replace(/^((?:[a-z][a-z0-9+.-]*:\/\/)?[^:/@]*):.*@/is, '$1:***@')
}

export interface SettingRow {
  readonly name: string
  readonly kind: string
  readonly default: string
  readonly bounds: string
  readonly help: string
}

/** The table that `baton settings` prints and the documentation shows. */
export function describeSettings(spec: SettingsSpec): SettingRow[] {
  return Object.entries(spec).map(([name, setting]) => ({
    name,
    kind: setting.kind,
    default:
      setting.default === undefined
        ? setting.required
          ? 'required'
          : '-'
        : String(setting.default),
    bounds: setting.bounds,
    help: setting.help,
  }))
}
