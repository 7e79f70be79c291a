// Migrates the database file in argv[2] with the migrations in the folder argv[3].
import { openDatabase } from '@inference-gateway/coordinator/store/sqlite/database';
import { migrate } from '@inference-gateway/coordinator/store/sqlite/migrations';

const [, , file = '', folder] = process.argv;
migrate(openDatabase(file), folder);
