// Settings come from the environment or from files that it names, are checked whole, and every problem is reported at once.
import { permanent } from './errors.ts'
import { misspeltSettings } from './misspelt-settings.ts'
import { readServerList } from './server-list.ts'
import { readRedisAddress, REDIS_SCHEMES } from './redis-address.ts'
import { readSettingFile } from './setting-files.ts'
import { weaknessOf } from './weak-secret.ts'

type Environment = Readonly<Record<string, string | undefined>>

export interface SettingKind<Value> {
  readonly kind: string
  readonly help: string
  readonly default: Value | undefined
  readonly required: boolean
  readonly bounds: string
  readonly secret: boolean
  /** A secret, or an address that usually carries a password. */
  readonly confidential: boolean
  /** A secret of this installation: no other setting may have the same value. */
  readonly distinct: boolean
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
  [Name in keyof Spec]: Spec[Name] extends SettingKind<infer Value> ? Value : never
}

function kind<Value>(
  name: string,
  common: Common<Value>,
  rest: Pick<SettingKind<Value>, 'parse'> &
    Partial<Omit<SettingKind<Value>, 'kind' | keyof Common<Value>>>,
): SettingKind<Value> {
  return {
    kind: name,
    help: common.help,
    default: common.default,
    required: common.default === undefined && common.optional !== true,
    bounds: rest.bounds ?? '',
    secret: rest.secret ?? false,
    confidential: rest.confidential ?? rest.secret ?? false,
    distinct: rest.distinct ?? false,
    formerly: common.formerly,
    parse: rest.parse,
  }
}

/** With a `pattern`, `bounds` says in words what it allows. */
export const text = (
  common: Common<string> & { readonly pattern?: RegExp; readonly bounds?: string },
): SettingKind<string> => {
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
}): SettingKind<string | undefined> {
  const { parse, bounds } = text(common)
  return kind<string | undefined>('text', { help: common.help, optional: true }, { parse, bounds })
}

const OWN_SECRET = {
  secret: true,
  distinct: true,
  parse(raw: string): { value: string } | { problem: string } {
    const problem = weaknessOf(raw)
    return problem === undefined ? { value: raw } : { problem }
  },
}

/** A value that is never printed, never weak, and never the same as another secret of the process. */
export const secret = (common: Common<string>): SettingKind<string> =>
  kind('secret', common, OWN_SECRET)

export const optionalSecret = (common: { help: string }): SettingKind<string | undefined> =>
  kind<string | undefined>('secret', { ...common, optional: true }, OWN_SECRET)

/** A value that is never printed and that somebody else made as they saw fit. */
export const optionalForeignSecret = (common: { help: string }): SettingKind<string | undefined> =>
  kind<string | undefined>(
    'secret',
    { ...common, optional: true },
    { secret: true, parse: (raw) => ({ value: raw }) },
  )

export function integer(
  common: Common<number> & { readonly min: number; readonly max: number },
): SettingKind<number> {
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

export const flag = (common: Common<boolean>): SettingKind<boolean> =>
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
): SettingKind<Choice> =>
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
  const read = readServerList(raw)
  if ('problem' in read) return read
  const protocol = URL.parse(read.value)?.protocol.slice(0, -1) ?? ''
  return protocols.includes(protocol)
    ? read
    : { problem: `expected a URL that starts with ${protocols.join(':// or ')}://` }
}

const ofUrls = (protocols: readonly string[]) => ({
  bounds: protocols.join(', '),
  confidential: !protocols.includes('https'),
  parse: (raw: string) => parseUrl(raw, protocols),
})

/** URLs may carry a password, so they are printed with it masked. */
export const url = (protocols: readonly string[], common: Common<string>): SettingKind<string> =>
  kind('url', common, ofUrls(protocols))

const URLS_MAX = 4

const problemIn = (read: { value: string } | { problem: string }): string | undefined =>
  'problem' in read ? read.problem : undefined

const ofUrlLists = (protocols: readonly string[]) => ({
  ...ofUrls(protocols),
  bounds: `${protocols.join(', ')}; up to ${URLS_MAX}, separated by commas`,
  parse: (raw: string) => {
    const all = raw.split(',')
    if (all.length > URLS_MAX) return { problem: `expected at most ${URLS_MAX} URLs` }
    const problems = all.map((one) => parseUrl(one, protocols)).map(problemIn)
    const wrong = problems.findIndex((problem) => problem !== undefined)
    if (wrong === -1) return { value: raw }
    const place = all.length === 1 ? '' : `, as URL ${wrong + 1} of ${all.length}`
    return { problem: `${problems[wrong]}${place}` }
  },
})

/** URLs of processes that do the same, of which one at a time is asked; as they are written, separated by commas. */
export const urls = (protocols: readonly string[], common: Common<string>): SettingKind<string> =>
  kind('urls', common, ofUrlLists(protocols))

export const optionalUrls = (
  protocols: readonly string[],
  common: { help: string },
): SettingKind<string | undefined> =>
  kind<string | undefined>('urls', { ...common, optional: true }, ofUrlLists(protocols))

export const optionalUrl = (
  protocols: readonly string[],
  common: { help: string },
): SettingKind<string | undefined> =>
  kind<string | undefined>('url', { ...common, optional: true }, ofUrls(protocols))

/** Where a Redis is, in any of its forms; printed with passwords masked. */
export const optionalRedisUrl = (common: { help: string }): SettingKind<string | undefined> =>
  kind<string | undefined>(
    'url',
    { ...common, optional: true },
    {
      bounds: REDIS_SCHEMES.join(', '),
      confidential: true,
      parse(raw) {
        const read = readRedisAddress(raw)
        return 'problem' in read ? read : { value: raw }
      },
    },
  )

// eslint-disable-next-line typescript/no-explicit-any -- a record of kinds of different values
export type SettingsSpec = Record<string, SettingKind<any>>

/**
 * Reads every setting of `spec` from `environment`, or from the file that `NAME_FILE` names. An empty variable counts as absent, and
 * one that is spelled nearly as a setting of any process is wrong.
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
    if (formerly !== undefined)
      for (const [old, now] of [
        [formerly, name],
        [fileOf(formerly), fileOf(name)],
      ] as const)
        if ((environment[old] ?? '') !== '') problems.push(`${old} is called ${now} now`)
    const given = readGiven(environment, { name, isConfidential: setting.confidential })
    if (given === undefined) {
      if (setting.required) problems.push(`${name} is missing: ${setting.help}`)
      values[name] = setting.default
      continue
    }
    const parsed = 'problem' in given ? given : setting.parse(given.raw)
    if (!('problem' in parsed)) values[name] = parsed.value
    else if ('problem' in given) problems.push(given.problem)
    else problems.push(`${given.source} is ${shown(setting, given.raw)}: ${parsed.problem}`)
  }
  problems.push(...namesOfEqualSecrets(spec, values))
  problems.push(...misspeltSettings(environment, Object.keys(spec)))
  if (problems.length > 0) throw invalid(problems)
  return values as Settings<Spec>
}

/**
 * What stands in `environment` under `name` or in the file that `NAME_FILE` names; undefined where neither does. For variables
 * that an installation names itself. Throws BATON_SETTINGS_INVALID.
 */
export function readVariable(environment: Environment, name: string): string | undefined {
  const given = readGiven(environment, { name, isConfidential: true })
  if (given !== undefined && 'problem' in given) throw invalid([given.problem])
  return given?.raw
}

/**
 * `environment` with what stands in files under the names of `spec`, and without the names of those files. Throws
 * BATON_SETTINGS_INVALID.
 */
export function withFilesRead(spec: SettingsSpec, environment: Environment): Environment {
  const named = Object.keys(spec).filter((name) => (environment[fileOf(name)] ?? '') !== '')
  const given = named.map((name) =>
    readGiven(environment, { name, isConfidential: spec[name]?.confidential ?? true }),
  )
  const problems = given.flatMap((one) => (one && 'problem' in one ? [one.problem] : []))
  if (problems.length > 0) throw invalid(problems)
  const read = named.map((name, index) => [name, (given[index] as { raw: string }).raw])
  const files = new Set(named.map(fileOf))
  const kept = Object.entries(environment).filter(([name]) => !files.has(name))
  return { ...Object.fromEntries(kept), ...Object.fromEntries(read) }
}

const fileOf = (name: string): string => `${name}_FILE`

type Given = { readonly raw: string; readonly source: string } | { readonly problem: string }

function readGiven(
  environment: Environment,
  { name, isConfidential }: { readonly name: string; readonly isConfidential: boolean },
): Given | undefined {
  const raw = environment[name] ?? ''
  const path = environment[fileOf(name)] ?? ''
  if (path === '') return raw === '' ? undefined : { raw, source: name }
  if (raw !== '')
    return { problem: `${name} and ${fileOf(name)} are both set: take one of them away` }
  const read = readSettingFile(path, isConfidential)
  const source = `${fileOf(name)} (${path})`
  return 'problem' in read
    ? { problem: `${source} ${read.problem}` }
    : { raw: read.value, source: `the text of ${source}` }
}

/** One stolen secret is then one stolen secret. */
function namesOfEqualSecrets(
  spec: SettingsSpec,
  values: Readonly<Record<string, unknown>>,
): readonly string[] {
  const names = Object.keys(spec).filter(
    (name) => spec[name]?.distinct === true && values[name] !== undefined,
  )
  return [...Map.groupBy(names, (name) => values[name]).values()]
    .filter((same) => same.length > 1)
    .map((same) => `${same.join(' and ')} are the same: give each a value of its own`)
}

const invalid = (problems: readonly string[]) =>
  permanent('BATON_SETTINGS_INVALID', `settings are wrong:\n  - ${problems.join('\n  - ')}`, {
    fix: 'Correct the environment variables above; `baton settings` lists all of them.',
  })

const shown = (setting: SettingKind<unknown>, raw: string): string =>
  setting.secret ? 'set (value hidden)' : JSON.stringify(maskPassword(raw))

/** Replaces the passwords of a URL, also of a malformed one; other text stays as it is. */
export function maskPassword(raw: string): string {
  return raw
    .replace(/([?&][a-z_]*password=)[^&#]*/gi, '$1***')
    .replace(/^((?:[a-z][a-z0-9+.-]*:\/\/)?[^:/@]*):.*@/is, '$1:***@')
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
