// A free port stays free until it is listened on: no connection is given it meanwhile.
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { freePort } from './ports.ts'

/** Where Linux begins, the lowest of all systems. */
const CONNECTIONS_FROM = 32_768

describe('a free port', () => {
  const server = createServer()
  let given = 0
  beforeEach(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    given = (server.address() as AddressInfo).port
  })
  afterEach(() => new Promise((resolve) => server.close(resolve)))

  it('is the preferred one while nobody listens on it', async () => {
    const free = await freePort()
    expect(await freePort(free)).toBe(free)
    expect(await freePort(given)).not.toBe(given)
  })

  it('is below those that the system gives away by itself', async () => {
    const ports = await Promise.all(Array.from({ length: 50 }, () => freePort()))
    expect(Math.max(...ports)).toBeLessThan(CONNECTIONS_FROM)
  })
})
