// A witness behind a proxy that remembers what it cosigned, so that a test can hold it to one history, and keep requests back.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  createCosigner,
  createNoteSigner,
  encodeUtf8,
  formatVerifierKey,
  parseCheckpoint,
  splitNote,
  toBase64,
} from '@baton/ledger'
import { spawnService } from '@baton/testkit'
import { privateKey } from './audit-seals-fixture.ts'

const LOG = 'baton/development/seals'
const NAME = 'witness.example.com'

export interface RecordingWitness {
  readonly policyFile: string
  /** Roots that it cosigned, by the size of the log. */
  readonly cosigned: ReadonlyMap<number, ReadonlySet<string>>
  /** From now on each request waits until the returned function is called. */
  hold(): () => void
  /** Whether anybody waits. */
  readonly waiting: number
  /** From now on nobody is answered, until the returned function is called. */
  cutOff(): () => void
  close(): Promise<void>
}

export async function startRecordingWitness(
  folder: string,
  sealKey: string,
  name = 'witness',
): Promise<RecordingWitness> {
  const signingKey = privateKey()
  const witness = await spawnService({
    main: 'services/witness/src/main.ts',
    env: {
      BATON_WITNESS_NAME: NAME,
      BATON_WITNESS_SIGNING_KEY: signingKey,
      BATON_WITNESS_LOGS: formatVerifierKey(createNoteSigner({ name: LOG, pkcs8: sealKey }).key),
      BATON_WITNESS_STATE_FILE: join(folder, `${name}.json`),
      BATON_WITNESS_FIRST_START: '1',
      BATON_WITNESS_PORT: '0',
    },
  })
  const target = /"url":"([^"]+)"/.exec(witness.output())?.[1] as string
  const cosigned = new Map<number, Set<string>>()
  let gate: Promise<void> = Promise.resolve()
  let waiting = 0
  let isCut = false

  async function forward(path: string, method: string, body: string) {
    waiting += 1
    await gate
    waiting -= 1
    if (isCut) return undefined
    const answer = await fetch(target + path, { method, ...(body === '' ? {} : { body }) })
    const text = await answer.text()
    const note = body.slice(body.indexOf('\n\n') + 2)
    const checkpoint = parseCheckpoint(splitNote(encodeUtf8(note))?.text ?? '')
    if (answer.status === 200 && checkpoint !== undefined && checkpoint.size > 0) {
      const roots = cosigned.get(checkpoint.size) ?? new Set()
      cosigned.set(checkpoint.size, roots.add(toBase64(checkpoint.root)))
    }
    return { status: answer.status, text }
  }

  const proxy = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      forward(request.url ?? '/', request.method ?? 'GET', body)
        .then((answer) => {
          if (answer === undefined) response.destroy()
          else response.writeHead(answer.status).end(answer.text)
        })
        .catch(() => response.destroy())
    })
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const { port } = proxy.address() as AddressInfo
  const key = formatVerifierKey(createCosigner({ name: NAME, pkcs8: signingKey }).key)
  const log = formatVerifierKey(createNoteSigner({ name: LOG, pkcs8: sealKey }).key)
  const policyFile = join(folder, `${name}.policy`)
  await writeFile(
    policyFile,
    `log ${log}\nwitness own ${key} http://127.0.0.1:${port}\nquorum own\n`,
  )
  return {
    policyFile,
    cosigned,
    get waiting() {
      return waiting
    },
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>()
      gate = promise
      return () => {
        gate = Promise.resolve()
        resolve()
      }
    },
    cutOff() {
      isCut = true
      return () => void (isCut = false)
    },
    async close() {
      proxy.closeAllConnections()
      proxy.close()
      await witness.kill()
    },
  }
}
