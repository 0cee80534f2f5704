// Postgres and Redis in containers, for machines whose Docker engine answers.
import { existsSync } from 'node:fs'
import { request } from 'node:http'
import type { RequestOptions } from 'node:http'
import { quietLogger } from './progress.ts'

const PING_MAX_MS = 1_000
const POSTGRES_IMAGE = 'postgres:18.4-alpine'
const REDIS_IMAGE = 'redis:8.4.0-alpine'

export interface Container {
  readonly url: string
  stop(): Promise<void>
}

/** Starts a container where an engine answers; null where none does, and with a word of why where it then fails. */
export async function whereDockerAnswers(
  name: string,
  start: () => Promise<Container>,
  logger: Pick<typeof quietLogger, 'warn'> = quietLogger,
): Promise<Container | null> {
  if (!(await dockerAnswers())) return null
  try {
    return await start()
  } catch (error) {
    logger.warn({ event: 'testkit.container_failed', name, reason: String(error) })
    return null
  }
}

/** True when a Docker engine answers within a second. */
const dockerAnswers = (): Promise<boolean> => knowsOf('/_ping')

/** True where an engine answers within a second and has this image: none is fetched for a test. */
export const dockerHas = (image: string): Promise<boolean> =>
  knowsOf(`/images/${encodeURIComponent(image)}/json`)

async function knowsOf(path: string): Promise<boolean> {
  const target = engineTarget(process.env['DOCKER_HOST'] ?? 'unix:///var/run/docker.sock')
  if (target === null) return false
  return await new Promise((resolve) => {
    const call = request({ ...target, path, timeout: PING_MAX_MS }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    call.once('timeout', () => call.destroy())
    call.once('error', () => resolve(false))
    call.end()
  })
}

/** Same settings as the embedded server, so that results do not depend on where it runs. */
export async function startPostgresContainer(): Promise<Container> {
  const { GenericContainer, Wait } = await import('testcontainers')
  const password = crypto.randomUUID()
  const container = await new GenericContainer(POSTGRES_IMAGE)
    .withEnvironment({ POSTGRES_PASSWORD: password })
    .withCommand([
      '-c',
      'max_connections=200',
      '-c',
      'shared_buffers=256MB',
      '-c',
      'max_wal_size=4GB',
    ])
    .withExposedPorts(5432)
    .withWaitStrategy(Wait.forLogMessage(/ready to accept connections/, 2))
    .start()
  const address = `${container.getHost()}:${container.getMappedPort(5432)}`
  return {
    url: `postgres://postgres:${password}@${address}/postgres`,
    stop: async () => void (await container.stop()),
  }
}

export async function startRedisContainer(): Promise<Container> {
  const { GenericContainer } = await import('testcontainers')
  const container = await new GenericContainer(REDIS_IMAGE)
    .withCommand(['redis-server', '--appendonly', 'yes', '--maxmemory-policy', 'noeviction'])
    .withExposedPorts(6379)
    .start()
  return {
    url: `redis://${container.getHost()}:${container.getMappedPort(6379)}`,
    stop: async () => void (await container.stop()),
  }
}

function engineTarget(host: string): RequestOptions | null {
  const { protocol, pathname, hostname, port } = new URL(host)
  if (protocol === 'unix:') return existsSync(pathname) ? { socketPath: pathname } : null
  return { host: hostname, port: port || 2375 }
}
