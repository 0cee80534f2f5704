// A short command loads what it needs and nothing else: that is what makes it answer at once.
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { ensureSecretFile } from '@baton/embedded/secret-files'
import { writeInstance } from '@baton/embedded/instance-record'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { secretsPath } from './instance/secrets.ts'

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url))

const TELL = `
import { registerHooks } from 'node:module'
import { writeFileSync } from 'node:fs'
const loaded = []
registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
process.on('exit', () => writeFileSync(process.env.LOADED_FILE, JSON.stringify(loaded)))
`

let folder = ''
let gateway: Server
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'baton-loaded-'))
  await writeFile(join(folder, 'tell.mjs'), TELL)
  gateway = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://gateway')
    response.statusCode = ['/readyz', '/v2/tasks', '/v2/dead-letters'].includes(pathname)
      ? 200
      : 404
    response.end('{"tasks":[],"deadLetters":[],"nextCursor":null,"total":0,"totalIsExact":true}')
  })
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve))
  const gatewayUrl = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`
  await writeInstance(folder, [], { gatewayUrl })
  await ensureSecretFile(secretsPath(folder, 'people'), () => ({ operator: 'bk_operator_x' }))
})
afterAll(async () => {
  gateway.close()
  await rm(folder, { recursive: true })
})

/** The packages of others that a command loads. */
async function packagesOf(...args: string[]): Promise<readonly string[]> {
  const file = join(folder, 'loaded.json')
  const child = spawn(
    process.execPath,
    ['--import', join(folder, 'tell.mjs'), MAIN, '--home', folder, ...args],
    { env: { ...process.env, LOADED_FILE: file }, stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const [words, exitCode] = await Promise.all([
    text(child.stderr),
    new Promise((resolve) => child.once('exit', resolve)),
  ])
  expect({ exitCode, words }).toMatchObject({ exitCode: 0 })
  const loaded = JSON.parse(await readFile(file, 'utf8')) as readonly string[]
  const names = loaded.map((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1])
  return [...new Set(names.filter((name) => name !== undefined))].toSorted()
}

it.each([
  [['--help'], ['commander']],
  [['--version'], ['commander']],
  [['settings'], ['commander']],
  [['tasks'], ['commander', 'undici']],
  [
    ['dlq', 'ls'],
    ['commander', 'undici'],
  ],
])('%j loads no package but %j', async (args, packages) => {
  expect(await packagesOf(...args)).toEqual(packages)
})
