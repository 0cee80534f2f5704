// An artefact is read back as it was written, and nothing else is one; a model that forgets, cries wolf or dawdles takes nobody's place.
import { describe, expect, it } from 'vitest'
import { ARTEFACT_BYTES_MAX, formatArtefact, readArtefact } from './artefact.ts'
import { scannerFault } from './check-scanner.ts'
import { EMBEDDED_MODEL } from './model/model.ts'
import type { Model } from './model/model.ts'
import { createScanner } from './scanner.ts'
import type { Scanner } from './verdict.ts'

const ARTEFACT = { version: 7, model: EMBEDDED_MODEL }
const TEXT = formatArtefact(ARTEFACT)

describe('an artefact', () => {
  it('is read as it was written, decides as its model does, and is within the bound', () => {
    const read = readArtefact(TEXT)
    if (typeof read === 'string') throw new Error(read)
    expect(read.version).toBe(7)
    expect(formatArtefact(read)).toBe(TEXT)
    expect(createScanner({ model: read.model }).rulesetVersion).toBe(createScanner().rulesetVersion)
    expect(TEXT.length).toBeLessThan(ARTEFACT_BYTES_MAX)
  })

  it('may reject from twice the score on at which it flags', () => {
    expect(readArtefact(withRejectAt(2 * EMBEDDED_MODEL.flagAt))).toMatchObject({ version: 7 })
  })

  it('gives its weights to other threads without copying them', () => {
    const read = readArtefact(TEXT)
    expect(typeof read !== 'string' && read.model.weights.buffer).toBeInstanceOf(SharedArrayBuffer)
  })

  it.each([
    ['another form', TEXT.replace('artefact/1', 'artefact/2')],
    ['no end', TEXT.slice(0, -1)],
    ['more after its end', `${TEXT}\n`],
    ['no version', TEXT.replace('version 7', 'version 0')],
    ['a version beyond the largest', TEXT.replace('version 7', 'version 2147483648')],
    ['a version spelled otherwise', TEXT.replace('version 7', 'version 07')],
    ['a threshold of nothing', TEXT.replace(/flag-at \d+/, 'flag-at 0')],
    ['thresholds in the wrong order', TEXT.replace(/reject-at \d+/, 'reject-at 1')],
    ['a threshold that nothing reaches', TEXT.replace(/reject-at \d+/, 'reject-at 900000000')],
    ['one just beyond the highest', withRejectAt(2 * EMBEDDED_MODEL.flagAt + 1)],
    ['weights cut off', TEXT.replace(/....\n$/, '\n')],
    ['too few weights', formatArtefact({ version: 1, model: modelOf(512) })],
    ['too many weights', formatArtefact({ version: 1, model: modelOf(524_288) })],
  ])('with %s is none', (_, text) => expect(readArtefact(text)).toEqual(expect.any(String)))
})

describe('a candidate', () => {
  const running = createScanner()
  const faultOf = (model: Model) => scannerFault(createScanner({ model }), running)

  it('with the model of the package has no fault, and lets others go on while it is looked at', async () => {
    let turns = 0
    const going = setInterval(() => (turns += 1), 0)
    expect(await faultOf(EMBEDDED_MODEL)).toBeUndefined()
    clearInterval(going)
    expect(turns).toBeGreaterThan(5)
  })

  it('that knows no attacks says how many', async () => {
    expect(await faultOf({ ...EMBEDDED_MODEL, weights: new Int8Array(1_024) })).toMatch(
      /^its model does not know 6 of 6 attacks/,
    )
  })

  it('that speaks of everything says how many ordinary texts it does not allow', async () => {
    expect(await faultOf({ ...EMBEDDED_MODEL, flagAt: 1 })).toMatch(/^it does not allow \d+ of 22/)
  })

  it('that lets plain attacks pass says so', async () => {
    const scan: Scanner['scan'] = (message) => {
      const verdict = running.scan(message)
      const isModels = verdict.findings.some(({ ruleId }) => ruleId === 'model')
      return isModels ? verdict : { ...verdict, decision: 'allow' }
    }
    expect(await scannerFault({ ...running, scan }, running)).toMatch(
      /^it lets \d of 5 attacks pass/,
    )
  })

  it('that is much slower than the running one says by how much', async () => {
    let at = 0
    const taking = (ms: number): Scanner => ({
      ...running,
      scan(message) {
        at += ms
        return running.scan(message)
      },
    })
    const now = () => at
    expect(await scannerFault(taking(1.9), taking(1), now)).toBeUndefined()
    expect(await scannerFault(taking(40), taking(1), now)).toBe(
      'it takes 40.0 ms for 4 KiB where the running one takes 1.0 ms',
    )
  })
})

function withRejectAt(rejectAt: number): string {
  return formatArtefact({ version: 7, model: { ...EMBEDDED_MODEL, rejectAt } })
}

function modelOf(weights: number): Model {
  return { weights: new Int8Array(weights), flagAt: 1, rejectAt: 1 }
}
