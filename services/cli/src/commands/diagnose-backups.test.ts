// What the doctor says of the last drill.
import { expect, it } from 'vitest'
import { judgeDrill } from './diagnose-backups.ts'

const detail = (code: string, value: string) => ({ code, value, sha256: null })
const markOf = (...details: readonly ReturnType<typeof detail>[]) =>
  judgeDrill({ age: '3.0 days', details }).mark

it('knows a drill that passed from one that failed, and from none', () => {
  const passed = judgeDrill({
    age: '3.0 days',
    details: [
      detail('RESULT', 'PASSED'),
      detail('RTO_SECONDS', '41.5'),
      detail('RPO_SECONDS', '2.1'),
    ],
  })
  expect(passed).toMatchObject({ mark: 'passed', isTold: true })
  expect(passed.text).toBe('3.0 days ago: verified in 41.5 s, and it lacked the newest 2.1 s')
  expect(markOf(detail('RESULT', 'FAILED'), detail('FAILURE', 'BATON_BACKUP_DAMAGED'))).toBe(
    'failed',
  )
  expect(judgeDrill(undefined)).toMatchObject({ mark: 'unknown' })
  expect(judgeDrill({ age: '1.2 s', details: undefined })).toMatchObject({ mark: 'unknown' })
})
