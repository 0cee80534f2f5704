// A witness is somebody else's server: wherever it sends us and whatever it answers, nothing is followed and little is read.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { askWitness } from './ask-witness.ts'

const asked: string[] = []
let written = 0
let server: Server
let base = ''
beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(request.url ?? '')
    if (request.url === '/elsewhere') {
      response.writeHead(307, { location: '/inside' }).end()
    } else if (request.url === '/endless') {
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536, 97))) written += 65_536
      }
      response.on('drain', more)
      more()
    } else if (request.url !== '/silent') response.writeHead(409).end('12\n')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const ask = (path: string, timeoutMs = 10_000) =>
  askWitness(new URL(path, base), { body: 'old 0\n', timeoutMs })

it('answers status and text', async () => {
  expect(await ask('/add-checkpoint')).toEqual({ status: 409, body: '12\n' })
})

it('follows no redirect, wherever it leads', async () => {
  await expect(ask('/elsewhere')).rejects.toThrow('a redirect is not followed')
  expect(asked).not.toContain('/inside')
})

it('stops reading an answer that does not end', async () => {
  await expect(ask('/endless')).rejects.toThrow('more than 131072 bytes')
  expect(written).toBeLessThan(64 * 1_048_576)
})

it('waits no longer than it may', async () => {
  await expect(ask('/silent', 50)).rejects.toThrow('timeout')
})
