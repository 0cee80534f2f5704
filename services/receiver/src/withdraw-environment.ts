// Foreign code finds no secret in the environment: before an agents module loads, all leaves it but what programs need of
// their system and what the installation names for it.

type Environment = Readonly<Record<string, string | undefined>>

const OF_THE_SYSTEM =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|HOSTNAME|PWD|LANG|LC_[A-Z]+|TZ|TERM|TMPDIR|TEMP|TMP|SYSTEMROOT|NODE_[A-Z_]+|SSL_CERT_(?:FILE|DIR))$/

interface Withdrawn {
  /** Everything, for what this process itself opens afterwards. */
  readonly whole: Environment
  /** What is named for the agents. */
  readonly own: Environment
}

/** Deletes variables of `environment`; they stay in the answer alone. */
export function withdrawEnvironment(
  environment: NodeJS.ProcessEnv,
  named: readonly string[],
): Withdrawn {
  const whole = { ...environment }
  const isNamed = (name: string): boolean => named.includes(name)
  for (const name of Object.keys(whole)) {
    if (!isNamed(name) && !OF_THE_SYSTEM.test(name)) delete environment[name]
  }
  const own = Object.fromEntries(Object.entries(whole).filter(([name]) => isNamed(name)))
  return { whole, own }
}
