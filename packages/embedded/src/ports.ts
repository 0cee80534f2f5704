// Where servers listen: on loopback ports that are free, the wanted ones first.
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'
import { transient } from '@baton/runtime'

/** Systems give connections their ports from above these, so that none takes a port before it is listened on. */
const PORTS = { from: 10_000, below: 32_768 }
const PORTS_TRIED_MAX = 100

/** A loopback port: `preferred` when it is free, otherwise any that nobody is given by chance. */
export async function freePort(preferred?: number): Promise<number> {
  if (preferred !== undefined && (await isFree(preferred))) return preferred
  for (let tried = 0; tried < PORTS_TRIED_MAX; tried += 1) {
    const port = randomInt(PORTS.from, PORTS.below)
    if (await isFree(port)) return port
  }
  throw transient('BATON_NO_FREE_PORT', 'no free port on 127.0.0.1', {
    fix: 'End programs that hold ports on this machine, then try again.',
  })
}

const SPREAD = 1_000
const PORT_MAX = 65_535

/**
 * A different free port for each name, from the wanted one upwards. From the second attempt on the
 * search starts at a random place: two instances that start at the same time would otherwise take
 * each other's ports again and again.
 */
export async function choosePorts<Name extends string>(
  wanted: Readonly<Record<Name, number>>,
  attempt: number,
): Promise<Readonly<Record<Name, number>>> {
  const shift = attempt === 1 ? 0 : 1 + randomInt(SPREAD)
  const chosen = new Map<string, number>()
  for (const [name, first] of Object.entries<number>(wanted))
    chosen.set(name, await nextFreePort(first + shift, [...chosen.values()]))
  return Object.fromEntries(chosen) as Record<Name, number>
}

async function nextFreePort(first: number, taken: readonly number[]): Promise<number> {
  const last = Math.min(first + PORTS_TRIED_MAX, PORT_MAX)
  for (let port = first; port <= last; port += 1) {
    if (!taken.includes(port) && (await isFree(port))) return port
  }
  return freePort()
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  return await new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      server.close(() => resolve(true))
    })
  })
}
