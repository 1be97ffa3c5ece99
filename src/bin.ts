#!/usr/bin/env node
import { openStore } from './index.js'

await openStore()
