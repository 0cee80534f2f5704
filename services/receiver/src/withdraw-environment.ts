// Foreign code finds no secret in the environment, nor where one stands: before an agents module loads, all leaves it but what
// programs need of their system and what the installation names for it.
import { readVariable } from '@baton/runtime'

type Environment = Readonly<Record<string, string | undefined>>

const OF_THE_SYSTEM =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|HOSTNAME|PWD|LANG|LC_[A-Z]+|TZ|TERM|TMPDIR|TEMP|TMP|SYSTEMROOT|NODE_[A-Z_]+|SSL_CERT_(?:FILE|DIR))$/

interface Withdrawn {
  /** Everything, for what this process itself opens afterwards. */
  readonly whole: Environment
  /** What is named for the agents; what stands in a file is read, and its path is not told. */
  readonly own: Environment
}

/** Deletes variables of `environment`; they stay in the answer alone. Throws BATON_SETTINGS_INVALID for a file that cannot be read. */
export function withdrawEnvironment(
  environment: NodeJS.ProcessEnv,
  named: readonly string[],
): Withdrawn {
  const whole = { ...environment }
  const own = Object.fromEntries(
    named.flatMap((name) => {
      const value = readVariable(whole, name) ?? whole[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )
  for (const name of Object.keys(whole)) {
    if (!OF_THE_SYSTEM.test(name)) delete environment[name]
  }
  Object.assign(environment, own)
  return { whole, own }
}
