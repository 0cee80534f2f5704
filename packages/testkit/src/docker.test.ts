// Containers are used where an engine answers; where it does not, or cannot start one, tests go on without.
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { startRedisContainer, whereDockerAnswers } from './docker.ts'

let folder: string
let engine: Server
let asked: string[]
/** What the engine answers; anything but its ping is refused, as by one without images and network. */
let pingStatus: number

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'baton-docker-'))
  asked = []
  pingStatus = 200
  engine = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://engine')
    asked.push(pathname)
    const isPing = pathname.endsWith('/_ping')
    response.writeHead(isPing ? pingStatus : 500, { 'content-type': 'application/json' })
    response.end(isPing ? 'OK' : '{"message":"this engine starts nothing"}')
  })
  const socket = join(folder, 'docker.sock')
  await once(engine.listen(socket), 'listening')
  vi.stubEnv('DOCKER_HOST', `unix://${socket}`)
})

afterEach(async () => {
  vi.unstubAllEnvs()
  engine.closeAllConnections()
  engine.close()
  await rm(folder, { recursive: true })
})

it('starts the server in a container where an engine answers', async () => {
  const container = { url: 'redis://127.0.0.1:1', stop: async () => undefined }
  expect(await whereDockerAnswers('Redis', async () => container)).toBe(container)
  expect(asked).toEqual(['/_ping'])
})

it('starts nothing where the engine is ill or there is none', async () => {
  const start = vi.fn(startRedisContainer)
  pingStatus = 503
  expect(await whereDockerAnswers('Redis', start)).toBeNull()
  vi.stubEnv('DOCKER_HOST', `unix://${join(folder, 'nothing.sock')}`)
  expect(await whereDockerAnswers('Redis', start)).toBeNull()
  expect(start).not.toHaveBeenCalled()
})

it('asks the engine itself for a container, and says why there is none', async () => {
  const warn = vi.fn()
  expect(await whereDockerAnswers('Redis', startRedisContainer, { warn })).toBeNull()
  expect(asked.length).toBeGreaterThan(1)
  expect(warn).toHaveBeenCalledExactlyOnceWith({
    event: 'testkit.container_failed',
    name: 'Redis',
    reason: expect.stringContaining('Error'),
  })
})
