// Which processes of an installation do not say that they are ready, wherever they run.
import { isAnswering, isReady } from '@baton/http/client'
import type { Tls } from '@baton/runtime'
import type { InstallationRecord } from './read-installation.ts'

type Listed = InstallationRecord['processes'][number]

interface Asking {
  readonly tls: Tls
  /** How long each has to answer. */
  readonly waitMs: number
}

/** All are asked at once. The witness has no place that says it: that it answers is enough. */
export async function silentProcesses(
  { processes }: InstallationRecord,
  { tls, waitMs }: Asking,
): Promise<readonly Listed[]> {
  const answers = await Promise.all(
    processes.map(({ name, url }) =>
      name === 'witness' ? isAnswering(url, waitMs, tls) : isReady(url, waitMs, tls),
    ),
  )
  return processes.filter((_, index) => answers[index] === false)
}
