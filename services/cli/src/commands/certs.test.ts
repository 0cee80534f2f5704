// `certs` makes what an installation needs, keeps keys to their owner, and never writes over what is there.
import { copyFile, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { belongTogether, describeCertificate, isSignedBy } from '@baton/embedded'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { listCertificates } from '../certificates/certificate-folder.ts'
import type { Context } from '../context.ts'
import { prepareInstanceTls } from '../instance/instance-tls.ts'
import { runProgram } from '../program.ts'
import { createOutput } from '../terminal/output.ts'

let home: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'baton-certs-'))
})
afterEach(() => rm(home, { recursive: true, force: true }))

async function certs(...args: string[]) {
  const written = { out: '', err: '' }
  const stream = (name: 'out' | 'err') => ({
    write: (data: string | Uint8Array) => (written[name] += String(data)),
  })
  const exitCode = await runProgram(['certs', ...args], {
    openContext: async ({ json = false }) =>
      ({
        home,
        output: createOutput({ stdout: stream('out'), stderr: stream('err') }, json),
      }) as Context,
    writeOut: (text) => (written.out += text),
    writeError: (text) => (written.err += text),
  })
  return { exitCode, ...written }
}

const inFolder = (file: string) => join(home, 'certs', file)
const readIn = (file: string) => readFile(inFolder(file), 'utf8')
const modeOf = async (file: string) => ((await stat(inFolder(file))).mode & 0o777).toString(8)
const DAY_MS = 86_400_000

describe('certs new', () => {
  it('makes one for every process and server, signed by an authority whose key stands apart', async () => {
    const { exitCode, out, err } = await certs(
      'new',
      '--json',
      '--host',
      'db.example',
      '--host',
      'gateway=gw.example',
    )
    expect(exitCode).toBe(0)
    const { certificates } = JSON.parse(out) as { certificates: Record<string, unknown>[] }
    expect(certificates.map(({ name }) => name)).toEqual([
      'archiver',
      'auditor',
      'gateway',
      'operator',
      'postgres',
      'receiver',
      'redis',
      'relay',
      'sealer',
      'sender',
      'witness',
    ])
    expect(certificates[2]).toMatchObject({
      hosts: ['db.example', 'gw.example'],
      daysLeft: 90,
      certificateFile: inFolder('gateway.crt'),
      keyFile: inFolder('gateway.key'),
    })
    const gateway = { certificate: await readIn('gateway.crt'), key: await readIn('gateway.key') }
    expect(belongTogether(gateway)).toBe(true)
    expect(isSignedBy(gateway.certificate, await readIn('ca.crt'))).toBe(true)
    expect(err).toContain(inFolder('authority'))
    expect(err).toContain(`BATON_TLS_CA_FILE=${inFolder('ca.crt')}`)
    expect(err).toContain('Next: ')
  })

  it('lets nobody but their owner read private keys', async () => {
    await certs('new', 'relay')
    expect(await modeOf('relay.key')).toBe('600')
    expect(await modeOf('authority/ca.key')).toBe('600')
    expect(await modeOf('authority')).toBe('700')
    expect(await readdir(inFolder(''))).toEqual(['authority', 'ca.crt', 'relay.crt', 'relay.key'])
  })

  it('overwrites nothing, and writes nothing where one of several is there', async () => {
    await certs('new', 'relay')
    const before = await readIn('relay.crt')
    await expect(certs('new', 'gateway', 'relay')).rejects.toMatchObject({
      code: 'BATON_CERTIFICATE_PRESENT',
    })
    expect(await readIn('relay.crt')).toBe(before)
    expect(await readdir(inFolder(''))).not.toContain('gateway.crt')
  })

  it('goes on with the authority that is there, also where its key is kept elsewhere', async () => {
    await certs('new', 'relay')
    await rename(inFolder('authority'), join(home, 'safe'))
    await expect(certs('new', 'gateway')).rejects.toMatchObject({ code: 'BATON_AUTHORITY_MISSING' })
    await certs('new', 'gateway', '--authority', join(home, 'safe'))
    expect(isSignedBy(await readIn('gateway.crt'), await readIn('ca.crt'))).toBe(true)
  })

  it('takes the key of another authority for none', async () => {
    await certs('new', 'relay')
    await certs('new', 'relay', '--dir', join(home, 'other'))
    const authority = join(home, 'other', 'authority')
    await expect(certs('new', 'gateway', '--authority', authority)).rejects.toMatchObject({
      code: 'BATON_AUTHORITY_MISSING',
    })
  })

  it.each([
    [['new', 'ca'], 'not `ca`'],
    [['new', '../relay'], 'small letters'],
    [['new', '--host', 'https://gw.example'], 'without scheme'],
    [['new', '--host', 'gateway='], 'without scheme'],
    [['new', '--days', '826'], '1 to 825'],
  ])('refuses %j before anything is written', async (args, problem) => {
    const { exitCode, err } = await certs(...args)
    expect(exitCode).toBe(2)
    expect(err).toContain(problem)
    expect(await readdir(home)).toEqual([])
  })

  it('refuses a host for a process that gets no certificate', async () => {
    await expect(certs('new', 'relay', '--host', 'gateway=gw')).rejects.toMatchObject({
      code: 'BATON_USAGE',
    })
  })
})

describe('certs renew', () => {
  it('gives a named one a new key for the same hosts, as readable as it was', async () => {
    await certs('new', 'relay', '--host', '10.0.0.1', '--days', '5')
    const before = await readIn('relay.key')
    await certs('renew', 'relay')
    const after = { certificate: await readIn('relay.crt'), key: await readIn('relay.key') }
    expect(after.key).not.toBe(before)
    expect(belongTogether(after)).toBe(true)
    const { hosts, until } = describeCertificate(after.certificate)
    expect(hosts).toEqual(['10.0.0.1'])
    expect(until.getTime() - Date.now()).toBeGreaterThan(89 * DAY_MS)
    expect(await modeOf('relay.key')).toBe('600')
    expect(await modeOf('relay.crt')).toBe('644')
  })

  it('renews by itself only what has less than a third of its life left', async () => {
    await certs('new', 'relay')
    expect(JSON.parse((await certs('renew', '--json')).out)).toMatchObject({ certificates: [] })
  })

  it('makes nothing that outlives its authority', async () => {
    await certs('new', 'relay', '--days', '825')
    const [relay] = await listCertificates({ folder: inFolder('') })
    const authority = describeCertificate(await readIn('ca.crt'))
    expect(relay?.until.getTime()).toBeLessThanOrEqual(authority.until.getTime())
  })

  it('mends what a renewal left that was killed between key and certificate, also at the start of an instance', async () => {
    for (const dir of [inFolder(''), join(home, 'tls')]) {
      await certs('new', 'relay', 'gateway', '--dir', dir)
      await copyFile(join(dir, 'gateway.key'), join(dir, 'relay.key'))
    }
    await certs('renew')
    await prepareInstanceTls(home)
    for (const dir of [inFolder(''), join(home, 'tls')]) {
      const certificate = await readFile(join(dir, 'relay.crt'), 'utf8')
      const key = await readFile(join(dir, 'relay.key'), 'utf8')
      expect(belongTogether({ certificate, key })).toBe(true)
    }
  })

  it('says who has to be told: nobody in the folder of the instance, whose servers follow by themselves', async () => {
    await certs('new', 'redis')
    expect((await certs('renew', 'redis')).err).toContain('have to be told')
    const dir = join(home, 'tls')
    await certs('new', 'redis', '--dir', dir)
    expect((await certs('renew', 'redis', '--dir', dir)).err).toContain('Postgres and Redis too')
  })

  it('says so where there is nothing of that name', async () => {
    await expect(certs('renew')).rejects.toMatchObject({ code: 'BATON_CERTIFICATE_MISSING' })
    await certs('new', 'relay')
    await expect(certs('renew', 'gateway')).rejects.toMatchObject({
      code: 'BATON_CERTIFICATE_MISSING',
    })
  })
})

describe('certs ls', () => {
  it('leads on to the folder that it was about, and to that of an instance on TLS', async () => {
    const dir = join(home, 'tls')
    expect((await certs('new', 'relay', '--dir', dir)).err).toContain(`certs ls --dir ${dir}`)
    expect((await certs('ls', '--dir', dir)).err).toContain(`certs renew --dir ${dir}`)
    expect((await certs('renew', 'relay', '--dir', dir)).err).toContain(`certs ls --dir ${dir}`)
    expect(await certs('ls')).toMatchObject({
      exitCode: 5,
      err: expect.stringContaining(`certs ls --dir ${dir}`) as string,
    })
  })

  it('shows hosts, end and what is left, and is 5 where there are none', async () => {
    expect(await certs('ls')).toMatchObject({ exitCode: 5, out: '' })
    await certs('new', 'relay', '--host', 'r.example')
    const { exitCode, out } = await certs('ls')
    expect(exitCode).toBe(0)
    expect(out).toMatch(/relay +r\.example +\d{4}-\d\d-\d\d \d\d:\d\d +90 days/)
  })
})
