import { expect, test } from 'vitest'
import { WriteQueue } from '../../../src/engine/sessions/write-queue.js'

test('a call that throws synchronously is finished, and close does not wait for it', async () => {
  const order = new WriteQueue('agent')
  const failed = order.finish(() => {
    throw new Error('no')
  })
  await expect(failed).rejects.toThrow('no')
  expect(order.isFree).toBe(true)
  await order.close()
})
