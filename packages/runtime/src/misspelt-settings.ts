// Finds variables that somebody meant for a setting: one whose name is spelled nearly as that of a setting would be passed over in silence.
import { SETTING_NAMES } from './generated/setting-names.ts'
import { mistakesBetween } from './nearest-names.ts'

const PREFIX = 'BATON_'
/** So many letters left out, put in, put in place of others, or changed with their neighbours. */
const MISTAKES_MAX = 2
/** In shorter names two mistakes make another word: BATON_API_PORT, which Kubernetes sets for a service called baton-api, is no BATON_OPS_PORT. */
const MISTAKES_MAX_SHORT = 1
const SHORT = 12

/**
 * What is wrong with each, in words without its value. The settings of every process count, and not just `own` ones, since processes may share
 * an environment; what is nearly none of them is somebody's own and passes, and so does what is empty.
 */
export function misspeltSettings(
  environment: Readonly<Record<string, string | undefined>>,
  own: readonly string[],
): readonly string[] {
  const known = new Set([...own, ...SETTING_NAMES].flatMap((name) => [name, `${name}_FILE`]))
  return Object.keys(environment)
    .filter((name) => name.startsWith(PREFIX) && !known.has(name) && environment[name] !== '')
    .toSorted()
    .flatMap((name) => {
      const meant = nearestOf(name, known)
      return meant === undefined ? [] : [`${name} is not a setting; did you mean ${meant}?`]
    })
}

function nearestOf(name: string, known: ReadonlySet<string>): string | undefined {
  const isShort = name.length - PREFIX.length < SHORT
  const mistakesMax = isShort ? MISTAKES_MAX_SHORT : MISTAKES_MAX
  const [nearest] = [...known]
    .filter((other) => Math.abs(other.length - name.length) <= mistakesMax)
    .map((other) => ({ other, mistakes: mistakesBetween(name, other) }))
    .filter(({ mistakes }) => mistakes <= mistakesMax)
    .toSorted((left, right) => left.mistakes - right.mistakes)
  return nearest?.other
}
