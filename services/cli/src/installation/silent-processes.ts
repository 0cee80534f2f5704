// Which processes of an installation do not say that they are ready, wherever they run.
import { setTimeout as delay } from 'node:timers/promises'
import { isAnswering, isReady } from '@baton/http/client'
import type { Tls } from '@baton/runtime'
import type { InstallationRecord } from './read-installation.ts'

type Listed = InstallationRecord['processes'][number]

interface Asking {
  readonly tls: Tls
  /** How long each has: one that was started just now is waited for. */
  readonly waitMs: number
}

/** All are asked at once. The witness has no place that says it: that it answers is enough. */
export async function silentProcesses(
  { processes }: InstallationRecord,
  { tls, waitMs }: Asking,
): Promise<readonly Listed[]> {
  const until = performance.now() + waitMs
  const answers = await Promise.all(processes.map((one) => isWell(one, { tls, until })))
  return processes.filter((_, index) => answers[index] === false)
}

async function isWell(
  { name, url }: Listed,
  { tls, until }: { readonly tls: Tls; readonly until: number },
): Promise<boolean> {
  const ask = name === 'witness' ? isAnswering : isReady
  for (;;) {
    const leftMs = Math.floor(until - performance.now())
    if (leftMs <= 0) return false
    if (await ask(url, leftMs, tls)) return true
    await delay(Math.min(ASK_EVERY_MS, leftMs))
  }
}

const ASK_EVERY_MS = 250
