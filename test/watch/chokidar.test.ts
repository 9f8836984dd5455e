import { engineContract } from './engine-contract.js';

engineContract('chokidar');
