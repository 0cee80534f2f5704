// Where the services of an instance listen: the usual ports, else the next free ones.
import { freePort } from '@baton/infra'
import type { Ports } from './service-settings.ts'

const GATEWAY_PORT = 8420
const AUDITOR_PORT = 8421
const PORTS_TRIED_MAX = 100
const SPREAD = 1_000

/**
 * Two different free ports. From the second attempt on the search starts at a random place: two
 * instances that start at the same time would otherwise take each other's ports again and again.
 */
export async function choosePorts(attempt: number): Promise<Ports> {
  const shift = attempt === 1 ? 0 : 1 + Math.floor(Math.random() * SPREAD)
  const gateway = await nextFreePort(GATEWAY_PORT + shift)
  const auditor = await nextFreePort(Math.max(AUDITOR_PORT + shift, gateway + 1))
  return { gateway, auditor }
}

async function nextFreePort(first: number): Promise<number> {
  for (let port = first; port < first + PORTS_TRIED_MAX; port += 1) {
    if ((await freePort(port)) === port) return port
  }
  return freePort()
}
