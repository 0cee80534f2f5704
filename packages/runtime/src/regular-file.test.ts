// What is no regular file, or too large, is refused at once; what is a file is read as it stands.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readRegularFile, readRegularFileNow } from './regular-file.ts'

let folder = ''
const at = (name: string) => join(folder, name)
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-regular-'))
  execFileSync('mkfifo', [at('pipe')])
  writeFileSync(at('empty'), '')
  writeFileSync(at('small'), 'some text')
  writeFileSync(at('large'), 'x'.repeat(200_000))
  symlinkSync(at('small'), at('link'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const read = {
  'read now': async (path: string, bytesMax?: number) => readRegularFileNow(path, bytesMax),
  'read later': (path: string, bytesMax?: number) => readRegularFile(path, bytesMax),
}

describe.each(Object.entries(read))('a file that is %s', (_, readFile) => {
  it.each(['pipe', '.', '/dev/null', '/dev/zero'])('is none where it is %s', async (name) => {
    const path = name.startsWith('/') ? name : at(name)
    await expect(readFile(path)).rejects.toMatchObject({ code: 'NO_REGULAR_FILE' })
  })

  it('may be missing', () =>
    expect(readFile(at('absent'))).rejects.toMatchObject({ code: 'ENOENT' }))

  it('is answered whole, behind links too', async () => {
    expect((await readFile(at('empty'))).toString()).toBe('')
    expect((await readFile(at('link'))).toString()).toBe('some text')
    expect(await readFile(at('large'))).toHaveLength(200_000)
    expect(await readFile(at('small'), 9)).toHaveLength(9)
  })

  it.each([8, 1])('is refused where it has more than %i bytes', (bytesMax) =>
    expect(readFile(at('small'), bytesMax)).rejects.toMatchObject({ code: 'TOO_LARGE' }),
  )

  it.runIf(process.platform === 'linux')(
    'may say that it is empty until it is read (only on Linux)',
    async () => {
      expect((await readFile('/proc/self/status')).toString()).toContain('Pid:')
      await expect(readFile('/proc/self/status', 8)).rejects.toMatchObject({ code: 'TOO_LARGE' })
    },
  )
})
