// The image of this repository, where an engine has it: a process in it lives, is seen to, and drains; without one these tests say what they miss.
import { generateKeyPairSync } from 'node:crypto'
import { createNoteSigner, formatVerifierKey } from '@baton/ledger'
import { GenericContainer, Wait } from 'testcontainers'
import { expect, it } from 'vitest'
import { dockerHas } from './docker.ts'

const IMAGE = process.env['BATON_IMAGE'] ?? 'baton:0.1.0'
const MISSING = `no engine answers that has ${IMAGE}: docker build --file infra/image/Dockerfile --tag ${IMAGE} .`

const privateKey = (): string =>
  generateKeyPairSync('ed25519')
    .privateKey.export({ format: 'der', type: 'pkcs8' })
    .toString('base64')

/** A witness needs no database: it knows one log, and has seen nothing of it. */
const witness = () => {
  const log = createNoteSigner({ name: 'image.test/log', pkcs8: privateKey() })
  return new GenericContainer(IMAGE)
    .withCommand(['witness'])
    .withTmpFs({ '/tmp': 'rw' })
    .withDroppedCapabilities('ALL')
    .withSecurityOpt('no-new-privileges')
    .withEnvironment({
      BATON_WITNESS_NAME: 'image.test/witness',
      BATON_WITNESS_SIGNING_KEY: privateKey(),
      BATON_WITNESS_LOGS: formatVerifierKey(log.key),
      BATON_WITNESS_STATE_FILE: '/tmp/witness.json',
      BATON_WITNESS_FIRST_START: '1',
    })
    .withWaitStrategy(Wait.forHealthCheck())
}

it(
  'runs a process as nobody, which is seen to live and ends in order',
  { timeout: 120_000 },
  async (test) => {
    if (!(await dockerHas(IMAGE))) return test.skip(MISSING)
    const container = await witness().start()
    try {
      const { output } = await container.exec(['node', '-p', 'process.getuid()'])
      expect(output.trim()).toBe('10001')
      const written = await container.exec([
        'node',
        '-e',
        "require('fs').writeFileSync('/baton/x', '')",
      ])
      expect([written.exitCode, written.output]).toEqual([1, expect.stringMatching(/EACCES|EROFS/)])
      const lines: string[] = []
      const stream = await container.logs()
      stream.on('data', (line: Buffer) => lines.push(line.toString()))
      await container.stop({ timeout: 35_000, remove: true })
      expect(lines.join('')).toContain('service.draining')
    } finally {
      await container.stop({ remove: true }).catch(() => undefined)
    }
  },
)

it(
  'refuses to start with settings that are wrong, and says which',
  { timeout: 120_000 },
  async (test) => {
    if (!(await dockerHas(IMAGE))) return test.skip(MISSING)
    const starting = new GenericContainer(IMAGE)
      .withCommand(['relay'])
      .withWaitStrategy(Wait.forLogMessage(/BATON_DATABASE_URL is missing/))
      .start()
    await expect(starting).resolves.toBeDefined()
    const container = await starting
    await container.stop({ remove: true })
  },
)
