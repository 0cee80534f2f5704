// What keeps a bundle from proving the end of its tasks is told with its rule, and the exit code is the table's.
import { describe, expect, it } from 'vitest'
import { createOutput } from '../terminal/output.ts'
import { readFinding, tellFinding, told } from './evidence-finding.ts'

const HEADER = 'TASK_MAP: the map of tasks: the node "3" is not the one that was signed'

function tell(header: unknown, exitCode: 0 | 3 | 4) {
  const texts = { out: '' }
  const write = (data: string | Uint8Array) => (texts.out += String(data))
  const output = createOutput({ stdout: { write }, stderr: { write } }, false)
  return { code: tellFinding(output, readFinding(header), exitCode), text: texts.out }
}

describe('a finding beside a bundle', () => {
  it('names the rule, what follows from it, and ends as the table says', () => {
    const { code, text } = tell(HEADER, 0)
    expect(code).toBe(3)
    expect(text).toContain(HEADER)
    expect(text).toContain('the sealer makes the map anew when it starts')
    expect(told(readFinding(HEADER))).toEqual({ finding: HEADER })
  })

  it('never makes the exit code of the bundle milder, and none is none', () => {
    expect(tell(HEADER, 4).code).toBe(3)
    expect(tell('BATCH_KEY: somewhere: a message', 3).code).toBe(3)
    expect(tell('BATCH_KEY: somewhere: a message', 0).code).toBe(4)
    expect(tell(undefined, 0)).toEqual({ code: 0, text: '' })
    expect(told(readFinding(undefined))).toEqual({})
  })

  it('of an unknown rule counts as an alteration', () => {
    expect(tell('LATER_RULE: somewhere: a message', 0).code).toBe(3)
  })
})
