// The address of a Prometheus: read as one, and shown without what is secret in it.
import { expect, it } from 'vitest'
import { httpUrl } from '../arguments.ts'
import { shownUrl } from './dashboards.ts'

it('takes addresses of http and nothing else', () => {
  expect(httpUrl('https://prometheus.example/team')).toBe('https://prometheus.example/team')
  for (const wrong of ['nonsense', '127.0.0.1:9090', 'file:///etc/passwd'])
    expect(() => httpUrl(wrong)).toThrow('http://')
})

it('leaves the password out of the page', () => {
  expect(shownUrl('https://ann:secret@prometheus.example/team?token=secret')).toBe(
    'https://prometheus.example/team',
  )
  expect(shownUrl('http://127.0.0.1:9090')).toBe('http://127.0.0.1:9090')
})
