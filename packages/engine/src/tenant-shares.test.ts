// One tenant has at most its share of what a process does at once.
import { expect, it } from 'vitest'
import { roomLeft } from './tenant-shares.ts'

it('leaves out who has its share, and lets nobody get beyond it by one claim', () => {
  const shares = { atOnce: 6, perTenant: 4 }
  const of = (tenant: string, count: number) => Array.from({ length: count }, () => ({ tenant }))
  expect(roomLeft([], shares)).toEqual({ without: [], limit: 4 })
  expect(roomLeft(of('a', 3), shares)).toEqual({ without: [], limit: 1 })
  expect(roomLeft(of('a', 4), shares)).toEqual({ without: ['a'], limit: 2 })
  expect(roomLeft([...of('a', 4), ...of('b', 2)], shares)).toEqual({ without: ['a'], limit: 0 })
})
