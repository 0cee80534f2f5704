// Where a Prometheus beside an instance finds its processes, and the key it may read the gateway's metrics with: in
// `monitoring/` of the home, which holds nothing else, so that it can be given to a container.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from '@baton/runtime'

interface Monitored {
  readonly metricsKey: string
  /** Of each service that shows metrics. */
  readonly urls: Readonly<Record<string, string>>
  /** The services that run. */
  readonly names: readonly string[]
}

/** Writes both files; Prometheus follows the targets as they change (file_sd). */
export async function writeMonitoring(
  home: string,
  { metricsKey, urls, names }: Monitored,
): Promise<void> {
  const targets = Object.entries(urls)
    .filter(([name]) => names.includes(name))
    .map(([name, url]) => {
      const { host, protocol } = new URL(url)
      // Prometheus asks over http where it is not told otherwise.
      const scheme = protocol === 'https:' ? { __scheme__: 'https' } : {}
      return { targets: [host], labels: { job: `baton-${name}`, ...scheme } }
    })
  await write(home, 'metrics-key', `${metricsKey}\n`)
  await writeTargets(home, targets)
}

/** Nothing is there any more: an instance that was stopped is not one that is down. */
export const forgetTargets = (home: string): Promise<void> => writeTargets(home, [])

const writeTargets = (home: string, targets: readonly object[]): Promise<void> =>
  write(home, 'prometheus-targets.json', `${JSON.stringify(targets, null, 2)}\n`)

async function write(home: string, name: string, text: string): Promise<void> {
  const folder = join(home, 'monitoring')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await replaceFile(join(folder, name), text)
}
