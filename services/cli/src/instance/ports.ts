// Where the services of an instance listen: the wanted ports, else the next free ones.
import { freePort } from '@baton/embedded'
import type { Ports } from './service-settings.ts'

const PORTS_TRIED_MAX = 100
const SPREAD = 1_000
const PORT_MAX = 65_535

/**
 * Different free ports, from the wanted ones upwards. From the second attempt on the search starts at a random place: two
 * instances that start at the same time would otherwise take each other's ports again and again.
 */
export async function choosePorts(wanted: Ports, attempt: number): Promise<Ports> {
  const shift = attempt === 1 ? 0 : 1 + Math.floor(Math.random() * SPREAD)
  const gateway = await nextFreePort(wanted.gateway + shift)
  const auditor = await nextFreePort(wanted.auditor + shift, gateway)
  const witness = await nextFreePort(wanted.witness + shift, gateway, auditor)
  return { gateway, auditor, witness }
}

async function nextFreePort(first: number, ...taken: readonly number[]): Promise<number> {
  const last = Math.min(first + PORTS_TRIED_MAX, PORT_MAX)
  for (let port = first; port <= last; port += 1) {
    if (!taken.includes(port) && (await freePort(port)) === port) return port
  }
  return freePort()
}
