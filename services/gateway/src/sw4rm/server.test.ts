// The port of the SW4RM service with a certificate: nothing is said to who cannot check it, and nothing in clear.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, credentials, Metadata } from '@grpc/grpc-js'
import type { ChannelCredentials } from '@grpc/grpc-js'
import { createTestCertificate } from '@baton/http/fixtures/test-certificate'
import { createLogger } from '@baton/runtime'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createApiKey, identify, parseApiKeys } from '../api-keys.ts'
import type { Methods } from './calls.ts'
import { createSw4rmServer } from './server.ts'
import type { Sw4rmServer } from './server.ts'
import { METHODS } from './wire.ts'

const folder = mkdtempSync(join(tmpdir(), 'baton-sw4rm-tls-'))
const files = { certificate: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
const made = createTestCertificate('127.0.0.1')
const key = createApiKey({ scopes: 'handoffs:read' })
const answer = async () => ({
  accepted: true,
  handoff_id: 'x',
  rejection_reason: '',
  status: 1,
  metadata: {},
})

const nothing = async () => undefined
const serverWith = (tls: typeof files): Sw4rmServer =>
  createSw4rmServer({
    host: '127.0.0.1',
    port: 0,
    connections: { max: 8, perAddressMax: 8 },
    tls,
    bounds: {
      authenticate: (given) => identify(parseApiKeys(key.entry), given, Date.now()),
      rateMax: 100,
    },
    bounded: (work) => work(),
    refusals: { name: 'none', start: nothing, stop: nothing, refused: nothing },
    methods: { GetHandoffStatus: { scope: 'handoffs:read', answer } } as unknown as Methods,
    logger: createLogger({ service: 'gateway', level: 'error', destination: { write: () => {} } }),
  })

let server: Sw4rmServer
beforeAll(async () => {
  writeFileSync(files.certificate, made.certificate)
  writeFileSync(files.key, made.key)
  server = serverWith(files)
  await server.start()
})
afterAll(async () => {
  await server.stop()
  rmSync(folder, { recursive: true })
})

function statusOver(channel: ChannelCredentials): Promise<unknown> {
  // An address is no name that TLS can ask for.
  const client = new Client(server.address, channel, { 'grpc.ssl_target_name_override': 'baton' })
  const { path, requestSerialize, responseDeserialize } = METHODS.GetHandoffStatus
  const metadata = new Metadata()
  metadata.set('authorization', `Bearer ${key.key}`)
  return new Promise((resolve) => {
    client.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      { handoff_id: 'x' },
      metadata,
      { deadline: Date.now() + 10_000 },
      (error, answered) => {
        client.close()
        resolve(error === null ? answered : error.code)
      },
    )
  })
}

it('speaks TLS to who knows its certificate', async () => {
  const ofAnyName = { checkServerIdentity: () => undefined }
  const known = credentials.createSsl(Buffer.from(made.certificate), null, null, ofAnyName)
  expect(await statusOver(known)).toMatchObject({ accepted: true, handoff_id: 'x' })
})

it('says nothing to others, or in clear', async () => {
  expect(await statusOver(credentials.createSsl())).toBe(14)
  expect(await statusOver(credentials.createInsecure())).toBe(14)
})

it('does not begin with files that do not belong together, or that are not there', () => {
  writeFileSync(join(folder, 'other.pem'), createTestCertificate('127.0.0.1').key)
  const invalid = (why: RegExp) =>
    expect.objectContaining({
      code: 'BATON_SW4RM_TLS_INVALID',
      message: expect.stringMatching(why),
    })
  const other = join(folder, 'other.pem')
  expect(() => serverWith({ ...files, key: other })).toThrow(invalid(/belong together/))
  expect(() => serverWith({ ...files, key: '' })).toThrow(invalid(/BATON_SW4RM_TLS_KEY is not set/))
  const gone = join(folder, 'gone.pem')
  expect(() => serverWith({ ...files, certificate: gone })).toThrow(
    invalid(/BATON_SW4RM_TLS_CERT cannot be read at .*gone.pem/),
  )
})
